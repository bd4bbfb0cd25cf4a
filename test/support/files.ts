import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32, deflateRawSync, deflateSync } from 'node:zlib'
import { FileMissing, type FileStore } from '../../src/infra/file-store.ts'

/** Small, valid files of the supported types, generated here. */

/** One red pixel (PNG 1.2). */
export function png(): Buffer {
  const header = Buffer.from('0000000100000001' + '08' + '02' + '000000', 'hex')
  const pixel = deflateSync(Buffer.from([0, 255, 0, 0]))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixel),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))])
}

/** A JFIF file without image data: start, APP0, comments of so many bytes in total, end. */
export function jpeg(commentBytes = 10): Buffer {
  const segments: Buffer[] = [
    Buffer.from('ffd8' + 'ffe0' + '0010' + '4a46494600' + '0101' + '00' + '00010001' + '0000', 'hex'),
  ]
  for (let left = commentBytes; left > 0; left -= 65_533) {
    const size = Math.min(left, 65_533)
    segments.push(Buffer.from('fffe', 'hex'), uint16(size + 2), Buffer.alloc(size, 0x20))
  }
  return Buffer.concat([...segments, Buffer.from('ffd9', 'hex')])
}

/** An ISO base media file of the brand `isom`, with so many bytes of media. */
export function mp4(mediaBytes = 16): Buffer {
  return Buffer.concat([
    box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1')),
    box('mdat', Buffer.alloc(mediaBytes)),
  ])
}

function box(type: string, body: Buffer): Buffer {
  return Buffer.concat([uint32(body.length + 8), Buffer.from(type, 'latin1'), body])
}

/** A PDF of one empty page, padded to about `bytes` with a stream that no page shows. */
export function pdf(bytes = 0): Buffer {
  const padding = Buffer.alloc(Math.max(0, bytes - 400), 0x41)
  const objects = [
    Buffer.from('<</Type/Catalog/Pages 2 0 R>>'),
    Buffer.from('<</Type/Pages/Kids[3 0 R]/Count 1>>'),
    Buffer.from('<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>'),
    Buffer.concat([
      Buffer.from(`<</Length ${padding.length}>>stream\n`),
      padding,
      Buffer.from('\nendstream'),
    ]),
  ]
  const parts = [Buffer.from('%PDF-1.4\n')]
  const offsets: number[] = []
  let size = parts[0]!.length
  for (const [at, object] of objects.entries()) {
    offsets.push(size)
    const part = Buffer.concat([Buffer.from(`${at + 1} 0 obj`), object, Buffer.from('endobj\n')])
    parts.push(part)
    size += part.length
  }
  const rows = offsets.map(offset => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`
  const end = `${table}trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${size}\n%%EOF`
  return Buffer.concat([...parts, Buffer.from(end)])
}

const CONTENT_TYPES = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`

/** A DOCX document. With `typesLast`, its content types come after `before` bytes of text. */
export function docx({ typesLast = false, before = 10 } = {}): Buffer {
  const types: Entry = { name: '[Content_Types].xml', data: Buffer.from(CONTENT_TYPES) }
  const text: Entry = { name: 'word/document.xml', data: Buffer.alloc(before, 0x20), stored: true }
  return zip(typesLast ? [text, types] : [types, text])
}

type Entry = { name: string; data: Buffer; stored?: boolean }

/** A ZIP archive (APPNOTE 6.3.3): the files, then the central directory. */
export function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = []
  const table: Buffer[] = []
  let offset = 0
  for (const { name, data, stored = false } of entries) {
    const packed = stored ? data : deflateRawSync(data)
    const common = Buffer.concat([
      Buffer.from('14000000', 'hex'),
      le16(stored ? 0 : 8),
      Buffer.alloc(4),
      le32(crc32(data)),
      le32(packed.length),
      le32(data.length),
      le16(name.length),
      le16(0),
    ])
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed])
    table.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
        common,
        Buffer.alloc(10),
        le32(offset),
        Buffer.from(name),
      ]),
    )
    parts.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(table)
  const counts = Buffer.concat([le16(0), le16(0), le16(entries.length), le16(entries.length)])
  const end = [Buffer.from('PK\x05\x06', 'latin1'), counts, le32(directory.length), le32(offset), le16(0)]
  return Buffer.concat([...parts, directory, ...end])
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function le32(value: number): Buffer {
  return uint32(value).reverse()
}

function le16(value: number): Buffer {
  return uint16(value).reverse()
}

/** A file store in memory, so that no time passes while a file is read. */
export function memoryFiles(): FileStore {
  const files = new Map<string, Buffer>()
  return {
    async write(key, bytes) {
      files.set(key, Buffer.concat(await Array.fromAsync(bytes)))
    },
    async read(key, range) {
      const bytes = files.get(key)
      if (!bytes) throw new FileMissing(key)
      return Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes])
    },
    async remove(key) {
      files.delete(key)
    },
  }
}
