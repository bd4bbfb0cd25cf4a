import { MAX_NAME_CHARACTERS, MAX_PER_SECOND } from '../../contract/bulk.ts'
import { type Detail, Problem } from '../../contract/errors.ts'

/** A part of the body of a bulk job, in the order of the body. */
export type BulkPart =
  | { kind: 'name'; value: unknown }
  | { kind: 'perSecond'; value: unknown }
  /** `messages` is not an array. */
  | { kind: 'no messages' }
  /** `messages` is an array; its items follow. */
  | { kind: 'messages' }
  | { kind: 'rows'; rows: readonly unknown[]; flaws?: Flaws }

/**
 * Faults of rows that are valid JSON, but not as strict as the body of a send (lib/json-source.ts): by the index of the
 * row in its part.
 */
export type Flaws = ReadonlyMap<number, Detail>

/** An item that can be stored; the validation checks the rest. */
export type StorableMessage = { to: string }

/** The parts that arrived together, and their size. */
export type BulkPiece = { parts: readonly BulkPart[]; bytes: number }

/**
 * The state of a job's body while it is read, and what is wrong with it. The answer must
 * not depend on the order of keys: invalid JSON is reported before an invalid rate,
 * and that before invalid messages. So a fault is held back while the rest of the body
 * is read, up to `READ_ON_BYTES` of it.
 */
export type BodyReader = {
  name: string
  perSecond: number | null
  total: number
  /** Takes a part; returns its rows that can be stored. Throws a fault that takes precedence over all others. */
  readPart(part: BulkPart): readonly StorableMessage[]
  /** Called after all parts of a piece. Throws the held fault once enough of the body was read after it. */
  endPiece(bytes: number): void
  /** Whether the body is refused, so that no more rows are stored. */
  isRefused(): boolean
  /** Called at the end of the body: throws its fault, if any. Else `perSecond` is not null. */
  end(): void
}

/** How much of a refused body is read on, for faults that take precedence. */
const READ_ON_BYTES = 1_048_576

export function createBodyReader(): BodyReader {
  let name = ''
  let perSecond: number | null = null
  let total = 0
  let held: Problem | null = null
  let readOnBytes = 0

  function readPart(part: BulkPart): readonly StorableMessage[] {
    switch (part.kind) {
      case 'name':
        name = readName(part.value)
        return []
      case 'perSecond':
        perSecond = readRate(part.value)
        // Takes precedence over faults of the messages.
        if (perSecond === null) held = new Problem('MESSAGES_PER_SECOND_INVALID')
        return []
      case 'messages':
        return []
      case 'no messages':
        held ??= new Problem('MESSAGES_REQUIRED')
        return []
      case 'rows':
        return readRows(part.rows)
    }
  }

  function readRows(rows: readonly unknown[]): readonly StorableMessage[] {
    if (held) return []
    const wrong = rows.findIndex(row => faultOf(row) !== null)
    if (wrong !== -1) {
      held = invalidMessage(total + wrong, faultOf(rows[wrong])!)
      return []
    }
    total += rows.length
    return rows as readonly StorableMessage[]
  }

  /** Whether only invalid JSON could take precedence over the held fault: the rate was read, or is the fault. */
  function isCertain(): boolean {
    return held !== null && (perSecond !== null || held.code === 'MESSAGES_PER_SECOND_INVALID')
  }

  return {
    get name() {
      return name
    },
    get perSecond() {
      return perSecond
    },
    get total() {
      return total
    },
    readPart,
    endPiece(bytes) {
      if (!isCertain()) return
      readOnBytes += bytes
      if (readOnBytes > READ_ON_BYTES) throw held!
    },
    isRefused: () => held !== null,
    end() {
      if (perSecond === null) throw new Problem('MESSAGES_PER_SECOND_INVALID')
      if (held) throw held
      if (total === 0) throw new Problem('MESSAGES_REQUIRED')
    },
  }
}

/** The Problem for a body that does not have the form of a job. */
export function invalidBody(path: string, message: string): Problem {
  return new Problem('INVALID_REQUEST_BODY', path === '' ? `The body ${message}.` : `${path}: ${message}`, {
    details: [{ path, message }],
  })
}

function readName(value: unknown): string {
  if (value === null) return ''
  if (typeof value !== 'string') throw invalidBody('name', 'must be a string')
  if (isTooLong(value)) {
    throw invalidBody('name', `must have at most ${MAX_NAME_CHARACTERS} characters`)
  }
  return value
}

/** Counts code points, as JSON Schema does: most of them are one UTF-16 unit, others are two. */
function isTooLong(name: string): boolean {
  if (name.length > 2 * MAX_NAME_CHARACTERS) return true
  return [...name].length > MAX_NAME_CHARACTERS
}

/** Null for an invalid rate; one that is too high is not lowered. */
function readRate(value: unknown): number | null {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_PER_SECOND
  return fits ? value : null
}

/** Why an item cannot be stored; the validation finds all other faults. */
function faultOf(row: unknown): Detail | null {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    return { path: '', message: 'must be an object' }
  }
  const { to, scheduleAt, options } = row as { to?: unknown; scheduleAt?: unknown; options?: unknown }
  if (typeof to !== 'string') return { path: '.to', message: 'must be a string' }
  if (scheduleAt !== undefined) return { path: '.scheduleAt', message: 'is not allowed in a bulk job' }
  if (typeof options === 'object' && options !== null && 'scheduleAt' in options) {
    return { path: '.options.scheduleAt', message: 'is not allowed in a bulk job' }
  }
  return null
}

export function invalidMessage(index: number, { path, message }: Detail): Problem {
  const where = `messages[${index}]${path}`
  return new Problem('INVALID_MESSAGE', `${where}: ${message}`, { details: [{ path: where, message }] })
}
