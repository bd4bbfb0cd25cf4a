import type { IncomingMessage } from 'node:http'
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy'
import { invalid, Problem, unreadable } from '../contract/errors.ts'
import { closeAfterBody } from './discard-rest.ts'

/** What a form may contain. */
export type FormLimits = {
  /** The fields that may contain a file. A form has at most one file. */
  fileFields: readonly string[]
  /** The size limit of the whole body. */
  mostBytes: number
}

/** A file of a form while it is received. */
export type FormFile = {
  field: string
  fileName: string | undefined
  /** The content type that the form declares. */
  mimetype: string
  bytes: AsyncIterable<Buffer>
}

/** Stores the file of a form. */
export type FileSink<F> = {
  store(file: FormFile): Promise<F>
  /** Deletes a stored file whose form turned out to be invalid; never rejects. */
  discard(taken: F): Promise<void>
}

export type Form<F> = {
  fields: ReadonlyMap<string, string>
  /** The result of the sink, and the field of the file; null if the form has no file. */
  file: { field: string; stored: F } | null
}

/** All text fields of a form together: the same limit as for a JSON body. */
export const MAX_TEXT_BYTES = 1_048_576
const MAX_PARTS = 100
const MAX_NAME_CHARACTERS = 200
const HEADER_BYTES = 8_192
const HEADER_PAIRS = 20
/** The rest of a refused body is read and discarded, up to this multiple of its limit; then the connection is cut. */
const OVERRUN = 2

/**
 * Reads a multipart/form-data body (RFC 7578) as a stream. The file is passed to the sink while it is
 * received, as fast as the sink reads it. Throws a 400 or 413 that names the field, or the error of the sink.
 * By then the sink has discarded the file. The rest of the body is discarded, so that the client reads the
 * response.
 */
export async function readForm<F>(
  request: IncomingMessage,
  limits: FormLimits,
  sink: FileSink<F>,
): Promise<Form<F>> {
  if (Number(request.headers['content-length']) > limits.mostBytes) throw formTooLarge()
  const fields = createFields(limits.fileFields)
  let file: Upload<F> | undefined
  try {
    await parse(request, limits, {
      field: (name, value, truncated) => fields.add(name, value, truncated),
      file(part, failed) {
        checkFile(part, file !== undefined, limits.fileFields)
        fields.reserve(part.field)
        file = startUpload(part, sink, failed)
      },
    })
    return { fields: fields.all, file: file ? { field: file.field, stored: await file.taken } : null }
  } catch (error) {
    await file?.abandon(error as Error)
    throw error
  }
}

type Parts = {
  field(name: string | undefined, value: string, truncated: boolean): void
  /** Calls `failed` if the file cannot be stored. */
  file(part: FilePart, failed: (error: unknown) => void): void
}
type FilePart = Omit<FormFile, 'field' | 'bytes'> & { field: string; stream: BusboyFileStream }

/** Runs the parser to the end of the form or the first error; after an error `parts` is not called again. */
function parse(request: IncomingMessage, limits: FormLimits, parts: Parts): Promise<void> {
  return new Promise((resolve, reject) => {
    const { mostBytes } = limits
    const parser = createParser(request, limits.fileFields)
    let over = false
    let bytes = 0

    const fail = (error: unknown) => {
      if (over) return
      over = true
      request.unpipe(parser)
      request.resume()
      closeAfterBody(request)
      reject(error)
    }
    const guard = (work: () => void) => {
      try {
        if (!over) work()
      } catch (error) {
        fail(error)
      }
    }

    parser.on('field', (name, value, _, truncated) => guard(() => parts.field(name, value, truncated)))
    parser.on('file', (field, stream, fileName, _, mimetype) => {
      // Without a listener an error would end the process. A file that is not read would block the rest of the form.
      stream.on('error', () => {})
      guard(() => parts.file({ field, stream, fileName, mimetype }, fail))
      if (over) stream.resume()
    })
    parser.on('partsLimit', () => fail(invalid('', `The form must have at most ${MAX_PARTS} parts.`)))
    parser.on('error', () => fail(unreadable('', 'The form is not valid multipart, or is incomplete.')))
    parser.on('finish', () => guard(resolve))
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > mostBytes) fail(formTooLarge())
      if (bytes > mostBytes * OVERRUN) request.destroy()
    })
    const cut = () => request.complete || fail(unreadable('', 'The body ended too soon.'))
    request.on('error', cut)
    request.on('close', cut)
    request.pipe(parser)
  })
}

function createParser(request: IncomingMessage, fileFields: readonly string[]) {
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: {
        parts: MAX_PARTS,
        fieldSize: MAX_TEXT_BYTES,
        headerPairs: HEADER_PAIRS,
        headerSize: HEADER_BYTES,
      },
      isPartAFile: (name, type, fileName) =>
        fileFields.includes(name ?? '')
          ? fileName !== undefined || type !== UNTYPED
          : fileName !== undefined && !isText(type),
    })
  } catch {
    const message = 'must be multipart/form-data with a boundary'
    throw unreadable('Content-Type', `Content-Type: ${message}`, message)
  }
}

/** The type of a part without a Content-Type. */
const UNTYPED = 'text/plain'

/** The parser's replacement for bytes that are not valid UTF-8. */
const REPLACEMENT_CHARACTER = '\ufffd'

/** A text field may be sent as a file of JSON or other text, as browsers send a Blob. */
function isText(type: string | undefined): boolean {
  return type !== undefined && /^(application\/json|text\/)/.test(type)
}

function createFields(fileFields: readonly string[]) {
  const all = new Map<string, string>()
  const names = new Set<string>()
  let bytes = 0

  function reserve(name: string): void {
    if (names.has(name)) throw invalid(name, 'must be given once only')
    names.add(name)
  }

  return {
    all: all as ReadonlyMap<string, string>,
    reserve,
    add(name: string | undefined, value: string, truncated: boolean): void {
      checkName(name)
      if (fileFields.includes(name)) throw invalid(name, 'must be a file')
      reserve(name)
      bytes += Buffer.byteLength(value)
      if (truncated || bytes > MAX_TEXT_BYTES)
        throw tooLarge(name, 'must not exceed 1 MB together with the other text fields')
      if (value.includes('\0')) throw invalid(name, 'must not contain NUL')
      if (value.includes(REPLACEMENT_CHARACTER) || !value.isWellFormed())
        throw invalid(name, 'must be text in UTF-8')
      all.set(name, value)
    },
  }
}

function checkName(name: string | undefined): asserts name is string {
  if (name === undefined || name === '') throw invalid('', 'Each part of the form must have a name.')
  if (name.length > MAX_NAME_CHARACTERS) throw invalid('', 'The name of a part is too long.')
  if (name === '__proto__') throw invalid(name, 'is not allowed')
}

function checkFile({ field }: FilePart, another: boolean, fileFields: readonly string[]): void {
  checkName(field)
  if (!fileFields.includes(field)) throw invalid(field, 'must not be a file')
  if (another) throw invalid(field, 'must be the only file')
}

type Upload<F> = { field: string; taken: Promise<F>; abandon(error: Error): Promise<void> }

function startUpload<F>(
  { field, fileName, mimetype, stream }: FilePart,
  sink: FileSink<F>,
  failed: (error: unknown) => void,
): Upload<F> {
  const taken = sink.store({ field, fileName, mimetype, bytes: stream })
  taken.catch(failed)
  return {
    field,
    taken,
    async abandon(error) {
      stream.destroy(error)
      await taken.then(sink.discard, () => {})
    },
  }
}

function formTooLarge(): Problem {
  return tooLarge('', 'The form is too large.')
}

function tooLarge(path: string, message: string): Problem {
  return path === ''
    ? new Problem('PAYLOAD_TOO_LARGE', message)
    : new Problem('PAYLOAD_TOO_LARGE', `${path}: ${message}`, { details: [{ path, message }] })
}
