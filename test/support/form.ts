/**
 * A part of a form: text, or a file with its name and declared type; null leaves the name or the type out.
 */
export type FormPart =
  | { name: string; text: string; type?: string }
  | { name: string; bytes: Buffer; fileName?: string | null; type?: string | null }

const BOUNDARY = 'the-boundary-of-the-tests'

/** multipart/form-data as bytes, written here so that a test can make any part invalid. */
export function form(parts: readonly FormPart[], boundary = BOUNDARY): { body: Buffer; type: string } {
  const chunks = parts.flatMap(part => [
    Buffer.from(`--${boundary}\r\n${head(part)}\r\n\r\n`),
    bytesOf(part),
    CRLF,
  ])
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    type: `multipart/form-data; boundary=${boundary}`,
  }
}

const CRLF = Buffer.from('\r\n')

function head(part: FormPart): string {
  const lines = [`Content-Disposition: form-data; name="${part.name}"`]
  if ('bytes' in part && part.fileName !== null) lines[0] += `; filename="${part.fileName ?? 'file'}"`
  if (part.type !== undefined && part.type !== null) lines.push(`Content-Type: ${part.type}`)
  return lines.join('\r\n')
}

function bytesOf(part: FormPart): Buffer {
  return 'bytes' in part ? part.bytes : Buffer.from(part.text)
}
