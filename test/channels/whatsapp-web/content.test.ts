import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import * as baileys from 'baileys'
import { expect, test } from 'vitest'
import type { OutgoingFile } from '../../../src/channels/provider.ts'
import { readDuration } from '../../../src/channels/whatsapp-web/audio-duration.ts'
import { createCompose } from '../../../src/channels/whatsapp-web/content.ts'
import { encryptFile } from '../../../src/channels/whatsapp-web/encrypted-file.ts'
import type { Line } from '../../../src/channels/whatsapp-web/line.ts'
import { openMediaOf } from '../../../src/channels/whatsapp-web/media.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { never } from '../conformance.ts'

/** A message with one file, and the bytes that would have been uploaded to the media servers. */
async function composed(text: string, given: Partial<OutgoingFile> & { bytes: Buffer }) {
  let uploaded = Buffer.alloc(0)
  const compose = createCompose({
    baileys,
    clock: systemClock,
    random: createRandom(),
    uploads: {
      async upload(_line, _type, file) {
        uploaded = await buffer(file.read())
        expect(uploaded).toHaveLength(file.sizeBytes)
        return { url: 'https://mmg.whatsapp.net/o1/v/t1', directPath: '/o1/v/t1' }
      },
    },
  })
  const { bytes, ...more } = given
  const open = async () => Readable.from([bytes.subarray(0, 1_000), bytes.subarray(1_000)])
  const file: OutgoingFile = { type: 'image', mimetype: 'image/jpeg', fileName: 'parcel.jpg', open, ...more }
  const message = await compose({} as Line, { text, files: [file] }, 'content-test', never())
  return { message, uploaded }
}

test('the recipient can decrypt the uploaded file with the key in the message', async () => {
  const bytes = createRandom().bytes(200_003)
  const { message, uploaded } = await composed('Look', { bytes })
  const image = message.imageMessage!
  expect(image).toMatchObject({ caption: 'Look', mimetype: 'image/jpeg', directPath: '/o1/v/t1' })
  expect(Number(image.fileLength)).toBe(bytes.length)
  expect(image.fileSha256).toEqual(createHash('sha256').update(bytes).digest())
  expect(image.fileEncSha256).toEqual(createHash('sha256').update(uploaded).digest())
  expect(message.messageContextInfo?.messageSecret).toHaveLength(32)
  const key = Buffer.from(image.mediaKey!).toString('base64')
  const reference = JSON.stringify({ as: 'image', path: image.directPath, key })
  const download = async () => Readable.from([uploaded])
  expect(await buffer(await openMediaOf(baileys, reference, download, never()))).toEqual(bytes)
})

test('a file for which there is no place on the disk is closed', async () => {
  const source = Readable.from([Buffer.alloc(10)])
  const keys = await baileys.getMediaKeys(Buffer.alloc(32), 'image')
  await expect(encryptFile(source, keys, 'no-such-directory/file')).rejects.toThrow('ENOENT')
  expect(source.destroyed).toBe(true)
})

test('a document has its file name, and a file without text has no caption', async () => {
  const given = { type: 'document', mimetype: 'application/pdf', fileName: 'Rechnung №7.pdf' } as const
  const { message } = await composed('', { ...given, bytes: Buffer.from('%PDF') })
  expect(message.documentMessage).toMatchObject({ fileName: 'Rechnung №7.pdf', mimetype: 'application/pdf' })
  expect(Object.keys(message.documentMessage!)).not.toContain('caption')
})

// A thread with limits was ended alone by most of these bombs, and by some together with its process: so several.
const BOMBS = [4_294_967_295, 2_820_130_816, 1_000_000].map(
  samples => [`a file of 180 bytes that claims ${samples} samples`, bombOf(samples), undefined] as const,
)

test.each<readonly [string, Buffer, number | undefined]>([
  ['valid audio', wavOf(2), 2],
  ['valid audio of 15 MB', wavOf(1_900), 1_900],
  ['bytes that are not audio', Buffer.alloc(50_000, 7), undefined],
  ...BOMBS,
])('audio has its duration if it can be read: %s', async (_, bytes, seconds) => {
  const { message } = await composed('', { type: 'audio', mimetype: 'audio/wav', bytes })
  expect(message.audioMessage).toMatchObject({ mimetype: 'audio/wav' })
  expect(Object.getOwnPropertyDescriptor(message.audioMessage, 'seconds')?.value).toBe(seconds)
})

test('the duration of a recording whose send was given up is not read', async () => {
  const given = new AbortController()
  const reading = readDuration(systemClock, () => Readable.from([wavOf(2)]), given.signal)
  given.abort()
  expect(await reading).toBeNull()
  let opened = false
  const file = () => {
    opened = true
    return Readable.from([])
  }
  expect(await readDuration(systemClock, file, given.signal)).toBeNull()
  expect(opened).toBe(false)
})

/** A WAV file of silence, with 8,000 samples of one byte per second. */
function wavOf(seconds: number): Buffer {
  const size = 8_000 * seconds
  const head = Buffer.alloc(44)
  head.write('RIFF')
  head.writeUInt32LE(36 + size, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(8_000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(size, 40)
  return Buffer.concat([head, Buffer.alloc(size, 128)])
}

/** An MP4 file with a fragment of so many samples, of which nothing is known: they take no bytes. */
function bombOf(samples: number): Buffer {
  const trackHeader = Buffer.alloc(84)
  trackHeader.writeUInt32BE(1, 12)
  const fragmentHeader = Buffer.alloc(8)
  fragmentHeader.writeUInt32BE(1, 4)
  const run = Buffer.alloc(12)
  run.writeUInt32BE(samples, 4)
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A \0\0\0\0M4A ', 'latin1')),
    box('moov', box('trak', box('tkhd', trackHeader))),
    box('moof', box('traf', box('tfhd', fragmentHeader), box('trun', run))),
  ])
}

function box(type: string, ...content: Buffer[]): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0))
  head.write(type, 4)
  return Buffer.concat([head, ...content])
}
