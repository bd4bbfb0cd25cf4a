import { MOST_NAME_CHARACTERS, MOST_PER_SECOND } from '../../contract/bulk.ts'
import { Problem } from '../../contract/errors.ts'

/** A piece of the body of a bulk job, in the order in which it came. */
export type BulkPart =
  | { kind: 'name'; value: unknown }
  | { kind: 'perSecond'; value: unknown }
  /** `messages` is no array. */
  | { kind: 'no messages' }
  /** `messages` is an array; its items follow. */
  | { kind: 'messages' }
  | { kind: 'rows'; rows: readonly unknown[] }

/** An item that is fit to be stored; all else is for the validation to judge. */
export type Message = { to: string }

/** What came at once. */
export type BulkPiece = { parts: readonly BulkPart[]; bytes: number }

/**
 * What the body of a job has said by now, and what is wrong with it. The keys may
 * come in any order, the answer must not depend on it: that the body is no JSON is
 * said before the rate, and the rate before the messages. So a fault waits for the
 * rest of the body, of a long one for as much of it as may be asked of a sender.
 */
export type Said = {
  name: string
  perSecond: number | null
  total: number
  /** Takes a part; the rows of it that are fit to be stored. Throws a refusal that nothing can come before. */
  take(part: BulkPart): readonly Message[]
  /** All of a piece was taken. Throws what is wrong once it is certain enough. */
  passed(bytes: number): void
  /** Nothing of it will be stored any more. */
  isRefused(): boolean
  /** The body is over: throws what is still wrong. The rate is known from here on. */
  end(): void
}

/** So much of a refused body is read on for what must be said instead. */
const READ_ON_BYTES = 1_048_576

export function createSaid(): Said {
  let name = ''
  let perSecond: number | null = null
  let total = 0
  let held: Problem | null = null
  let readOnBytes = 0

  function take(part: BulkPart): readonly Message[] {
    switch (part.kind) {
      case 'name':
        name = readName(part.value)
        return []
      case 'perSecond':
        perSecond = readRate(part.value)
        // Whatever is wrong with the messages comes after it.
        if (perSecond === null) held = new Problem('MESSAGES_PER_SECOND_INVALID')
        return []
      case 'messages':
        return []
      case 'no messages':
        held ??= new Problem('MESSAGES_REQUIRED')
        return []
      case 'rows':
        return takeRows(part.rows)
    }
  }

  function takeRows(rows: readonly unknown[]): readonly Message[] {
    if (held) return []
    const wrong = rows.findIndex(row => faultOf(row) !== null)
    if (wrong !== -1) {
      held = invalidMessage(total + wrong, faultOf(rows[wrong])!)
      return []
    }
    total += rows.length
    return rows as readonly Message[]
  }

  /** Where the rate is still to come, it is waited for. */
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
    take,
    passed(bytes) {
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

/** The body is not what a job's body is. */
export function invalidBody(path: string, message: string): Problem {
  return new Problem('INVALID_REQUEST_BODY', path === '' ? `The body ${message}.` : `${path}: ${message}`, {
    details: [{ path, message }],
  })
}

function readName(value: unknown): string {
  if (value === null) return ''
  if (typeof value !== 'string') throw invalidBody('name', 'must be a string')
  if (value.length > MOST_NAME_CHARACTERS) {
    throw invalidBody('name', `must have at most ${MOST_NAME_CHARACTERS} characters`)
  }
  return value
}

/** Null for what is none; it is never lowered to one. */
function readRate(value: unknown): number | null {
  const fits = typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_PER_SECOND
  return fits ? value : null
}

/** What makes an item no message at all; its other faults are found by the validation. */
function faultOf(row: unknown): { path: string; message: string } | null {
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

export function invalidMessage(index: number, { path, message }: { path: string; message: string }): Problem {
  const where = `messages[${index}]${path}`
  return new Problem('INVALID_MESSAGE', `${where}: ${message}`, { details: [{ path: where, message }] })
}
