import { createHash } from 'node:crypto'
import { invalid, Problem } from '../../contract/errors.ts'
import { chooseFormat, type Format, MAX_BYTES } from './formats.ts'
import { archiveHasFolder, createTextReader, detectType, HEAD_BYTES, TAIL_BYTES } from './sniff.ts'

/** The result of an inspection. */
export type InspectionResult = { format: Format; size: number; sha256: Buffer }

export type Inspection = {
  /** Passes the bytes on, and throws the refusal when they are not an accepted file. */
  inspect(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer>
  /** Call it once, after all bytes have passed. */
  result(): InspectionResult
}

/**
 * Inspects a file while it is streamed: its type by its first bytes, its size, its
 * hash. `path` names the field in a refusal; `declared` is the type that the client gave.
 */
export function createInspection(path: string, declared: string): Inspection {
  const hash = createHash('sha256')
  let format: Format | undefined
  let size = 0

  async function* inspect(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const head = createHeadBuffer()
    let checks: Checks | undefined
    for await (const chunk of bytes) {
      size += chunk.length
      if (!checks) {
        if (!head.add(chunk)) continue
        const first = head.bytes()
        checks = await startChecks(first)
        yield* checkChunk(first, checks)
      } else yield* checkChunk(chunk, checks)
    }
    if (!checks) {
      const whole = head.bytes()
      if (whole.length === 0) throw invalid(path, 'must not be empty')
      checks = await startChecks(whole)
      yield* checkChunk(whole, checks)
    }
    checks.end()
  }

  async function startChecks(head: Buffer): Promise<Checks> {
    const detected = await detectType(head)
    const chosen = chooseFormat(detected, declared)
    if (typeof chosen === 'string') throw invalid(path, chosen)
    format = chosen
    return createChecks(path, chosen, detected!)
  }

  function* checkChunk(chunk: Buffer, checks: Checks): Generator<Buffer> {
    if (size > MAX_BYTES[format!.mediaType]) throw tooLarge(path, format!)
    checks.add(chunk)
    hash.update(chunk)
    yield chunk
  }

  return { inspect, result: () => ({ format: format!, size, sha256: hash.digest() }) }
}

function tooLarge(path: string, { mediaType }: Format): Problem {
  const message = `must be at most ${MAX_BYTES[mediaType] / 1024 / 1024} MB for ${article(mediaType)}`
  return new Problem('PAYLOAD_TOO_LARGE', `${path}: ${message}`, { details: [{ path, message }] })
}

function article(mediaType: string): string {
  return `${/^[aeiou]/.test(mediaType) ? 'an' : 'a'} ${mediaType}`
}

/** Collects the beginning of a file. */
function createHeadBuffer(): { add(chunk: Buffer): boolean; bytes(): Buffer } {
  const chunks: Buffer[] = []
  let size = 0
  return {
    /** True once there is enough to recognise the type. */
    add(chunk) {
      chunks.push(chunk)
      size += chunk.length
      return size >= HEAD_BYTES
    },
    bytes: () => Buffer.concat(chunks, size),
  }
}

/** Checks that need more than the beginning. */
type Checks = { add(chunk: Buffer): void; end(): void }

function createChecks(path: string, format: Format, detected: string): Checks {
  if (detected === 'text/plain') return createTextCheck(path)
  if (format.folder !== undefined && detected !== format.mimetype) return createArchiveCheck(path, format)
  return { add() {}, end() {} }
}

/** A text must be valid to its last byte. */
function createTextCheck(path: string): Checks {
  const reader = createTextReader()
  const require = (holds: boolean) => {
    if (!holds) throw invalid(path, 'must be UTF-8 text throughout')
  }
  return { add: chunk => require(reader.add(chunk)), end: () => require(reader.end()) }
}

/** The table of contents at an archive's end shows what it contains. */
function createArchiveCheck(path: string, { folder, mimetype }: Format): Checks {
  let tail = Buffer.alloc(0)
  return {
    add(chunk) {
      tail = Buffer.from(Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES))
    },
    end() {
      if (!archiveHasFolder(tail, folder!)) throw invalid(path, `must be ${mimetype}, as declared`)
    },
  }
}
