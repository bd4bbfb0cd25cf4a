/** The beginning that tells what a file is; an archive shows its first names within it. */
export const HEAD_BYTES = 64 * 1024
/** The end in which an archive lists what it holds. */
export const TAIL_BYTES = 64 * 1024

/** What is written in letters to its end, or may be, and yet is another kind of file than text. */
const WRITTEN =
  /^(?:text\/|application\/(?:pdf|rtf|xml|.+\+xml|postscript|eps|pgp-encrypted|x-ms-regedit)$)|^image\/svg/

/**
 * What the beginning of a file looks like, as a media type; null for nothing
 * known. The recogniser is loaded at the first file. It goes by the first letters,
 * by which a table whose first column is called BMI would be a picture.
 */
export async function looksLike(head: Buffer): Promise<string | null> {
  const { fileTypeFromBuffer } = await import('file-type')
  const found = (await fileTypeFromBuffer(head))?.mime ?? null
  if (found !== null && WRITTEN.test(found)) return found
  return isText(head) ? 'text/plain' : found
}

/** The beginning may end within a letter, hence no last word on that. */
function isText(head: Buffer): boolean {
  const reader = createTextReader()
  return head.length > 0 && reader.add(head)
}

/** Reads a file as UTF-8 text, chunk by chunk, and says whether it still is. */
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

/** Line ends, tabs, form feeds and escapes stand in real texts; the rest does not. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

const ENTRY_SIGNATURE = Buffer.from('PK\x01\x02', 'latin1')
const NAME_LENGTH_AT = 28
const NAME_AT = 46

/** Whether an archive that ends with `tail` lists its types and a file below `folder`, as office documents do. */
export function listsFolder(tail: Buffer, folder: string): boolean {
  const names = entryNames(tail)
  return names.includes('[Content_Types].xml') && names.some(name => name.startsWith(folder))
}

/** The names in an archive's table of contents (APPNOTE 4.3.12), as far as it lies in `tail`. */
function entryNames(tail: Buffer): string[] {
  const names: string[] = []
  for (let at = tail.indexOf(ENTRY_SIGNATURE); at !== -1; at = tail.indexOf(ENTRY_SIGNATURE, at + 4)) {
    if (at + NAME_AT > tail.length) break
    const length = tail.readUInt16LE(at + NAME_LENGTH_AT)
    names.push(tail.toString('latin1', at + NAME_AT, at + NAME_AT + length))
  }
  return names
}
