/** How many bytes from the beginning are read to recognise a file; the first names of an archive are in them. */
export const HEAD_BYTES = 64 * 1024
/** How many bytes of the end are read, where an archive has its table of contents. */
export const TAIL_BYTES = 64 * 1024

/** File types that consist of text, or may, but are not plain text. */
const TEXT_BASED =
  /^(?:text\/|application\/(?:pdf|rtf|xml|.+\+xml|postscript|eps|pgp-encrypted|x-ms-regedit)$)|^image\/svg/

/**
 * The media type of a file by its beginning; null if unknown. The library is
 * loaded at the first file. It looks at the first bytes, by which a CSV that begins
 * with "BMI" would be a bitmap: so a text is `text/plain`, unless its type is `TEXT_BASED`.
 */
export async function detectType(head: Buffer): Promise<string | null> {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(head))?.mime ?? null
  if (found !== null && TEXT_BASED.test(found)) return found
  return isText(head) ? 'text/plain' : found
}

/** Does not end the decoder, since `head` may be cut within a character. */
function isText(head: Buffer): boolean {
  const reader = createTextReader()
  return head.length > 0 && reader.add(head)
}

/** Decodes a file chunk by chunk; `add` and `end` return false once it is not UTF-8 text. */
export function createTextReader(): { add(chunk: Buffer): boolean; end(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const read = (chunk: Buffer | undefined, stream: boolean) => {
    try {
      return !CONTROL.test(decoder.decode(chunk, { stream }))
    } catch {
      return false
    }
  }
  return { add: chunk => read(chunk, true), end: () => read(undefined, false) }
}

/** Control characters that texts do not contain: all but line ends, tabs, form feeds and escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

const ENTRY_SIGNATURE = Buffer.from('PK\x01\x02', 'latin1')
const NAME_LENGTH_AT = 28
const NAME_AT = 46

const TYPES_NAME = Buffer.from('[Content_Types].xml', 'latin1')

/** Whether the archive that ends with `tail` is an office document with a file in `folder`. */
export function archiveHasFolder(tail: Buffer, folder: string): boolean {
  const names = entryNames(tail)
  const start = Buffer.from(folder, 'latin1')
  return (
    names.some(name => name.equals(TYPES_NAME)) &&
    names.some(name => name.subarray(0, start.length).equals(start))
  )
}

/**
 * The names in a ZIP archive's table of contents (APPNOTE 4.3.12), as far as it is
 * in `tail`. They are not copied: a hostile table claims thousands of long ones that overlap.
 */
function entryNames(tail: Buffer): Buffer[] {
  const names: Buffer[] = []
  for (let at = tail.indexOf(ENTRY_SIGNATURE); at !== -1; at = tail.indexOf(ENTRY_SIGNATURE, at + 4)) {
    if (at + NAME_AT > tail.length) break
    const length = tail.readUInt16LE(at + NAME_LENGTH_AT)
    names.push(tail.subarray(at + NAME_AT, at + NAME_AT + length))
  }
  return names
}
