import type { IncomingMessage } from 'node:http'
import { type Detail, Problem } from '../contract/errors.ts'
import { type BulkPart, type BulkPiece, type Flaws, invalidBody } from '../core/bulk/body-reader.ts'
import { IntakeCut } from '../core/bulk/intake.ts'
import type { Cancel, Clock } from '../lib/clock.ts'
import { createJsonMembers, JsonMembersFault, type JsonPart, splitItems } from '../lib/json-members.ts'
import { joinPath, pathBelow } from '../lib/json-path.ts'
import { parseJson } from '../lib/json-source.ts'
import { dropNulls } from './json-body.ts'

export type BulkBodyLimits = {
  /** The size limit of the whole body. */
  mostBytes: number
  /** The size limit of one message: the same as for a send. */
  mostMessageBytes: number
  /** The time limit for the whole body to arrive. */
  timeoutMs: number
}

/** The longest value of a member other than `messages`. */
const MAX_MEMBER_BYTES = 1_048_576
/** A body is cut off if fewer than MIN_BYTES_IN_TIME arrive in STALL_MS of waiting for it. */
const STALL_MS = 30_000
const MIN_BYTES_IN_TIME = 16 * 1024

/**
 * Reads the body of a bulk job as a stream, as fast as the caller consumes it. At most one chunk and one
 * incomplete message are in memory. Throws a Problem if the body is too large, and an IntakeCut if it ends too
 * soon, stalls, or is not JSON.
 */
export async function* readBulkBody(
  request: IncomingMessage,
  limits: BulkBodyLimits,
  clock: Clock,
): AsyncGenerator<BulkPiece> {
  if (Number(request.headers['content-length']) > limits.mostBytes) throw new Problem('PAYLOAD_TOO_LARGE')
  const reader = createReader(limits.mostMessageBytes)
  let bytes = 0
  for await (const chunk of readInTime(request, limits.timeoutMs, clock)) {
    bytes += chunk.length
    if (bytes > limits.mostBytes) throw new Problem('PAYLOAD_TOO_LARGE')
    yield { parts: asIntakeCut(() => reader.push(chunk)), bytes: chunk.length }
  }
  asIntakeCut(reader.end)
}

/** The chunks of a request. Throws an IntakeCut if the body breaks off, stalls, or takes too long. */
async function* readInTime(
  request: IncomingMessage,
  timeoutMs: number,
  clock: Clock,
): AsyncGenerator<Buffer> {
  // If the loop ends early, the request is not destroyed: its response must still reach the client.
  const chunks = request.iterator({ destroyOnReturn: false })
  const watch = createReadTimer(timeoutMs, clock)
  try {
    for (;;) {
      const result = await watch.orTimeout(chunks.next()).catch(truncatedBody)
      if (result === 'over') throw new IntakeCut(new Problem('REQUEST_TIMEOUT'))
      if (result.done) return
      const chunk = result.value as Buffer
      watch.received(chunk.length)
      yield chunk
    }
  } finally {
    watch.stop()
    // Not awaited: it settles after the pending chunk, which may never arrive. Until then nothing else can read.
    chunks.return?.().catch(() => {})
  }
}

/**
 * Times out if the whole body takes longer than `timeoutMs`, or if hardly anything arrives in STALL_MS of waiting.
 * The time in which this server processes a chunk does not count as waiting.
 */
function createReadTimer(timeoutMs: number, clock: Clock) {
  let over = false
  let endWait = () => {}
  /** The time waited and the bytes received since the last check for progress. */
  let waitedMs = 0
  let receivedBytes = 0
  let sinceMs = 0
  let cancelStall: Cancel = () => {}
  const cancelAll = clock.after(timeoutMs, end)

  function end(): void {
    over = true
    endWait()
  }

  function wait(): void {
    sinceMs = clock.monotonic()
    cancelStall = clock.after(STALL_MS - waitedMs, checkProgress)
  }

  function checkProgress(): void {
    if (receivedBytes < MIN_BYTES_IN_TIME) {
      end()
      return
    }
    receivedBytes = 0
    waitedMs = 0
    wait()
  }

  return {
    /** `next`, or 'over' if the time is up first. Not by Promise.race, which would retain every chunk until the end. */
    orTimeout<T>(next: Promise<T>): Promise<T | 'over'> {
      wait()
      return new Promise((resolve, reject) => {
        endWait = () => resolve('over')
        if (over) endWait()
        next.then(resolve, reject)
      })
    },
    received(bytes: number) {
      cancelStall()
      waitedMs += clock.monotonic() - sinceMs
      receivedBytes += bytes
    },
    stop() {
      cancelAll()
      cancelStall()
    },
  }
}

function truncatedBody(cause: unknown): never {
  throw new IntakeCut(new Problem('VALIDATION_ERROR', 'The body ended too soon.', { cause }))
}

function asIntakeCut<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof JsonMembersFault)) throw error
    if (error.tooLarge) throw new Problem('PAYLOAD_TOO_LARGE', `The body ${error.message}.`)
    throw new IntakeCut(invalidBody('', error.message))
  }
}

/** Splits the body into messages, and parses each as strictly as the body of a send. */
function createReader(mostMessageBytes: number) {
  const members = createJsonMembers({
    array: 'messages',
    maxItemBytes: mostMessageBytes,
    maxMemberBytes: MAX_MEMBER_BYTES,
  })
  let read = 0

  function toPart(part: JsonPart): BulkPart | null {
    if (part.kind === 'opened') return { kind: 'messages' }
    if (part.kind === 'items') {
      const items = readItems(part.items, read)
      read += items.rows.length
      return { kind: 'rows', ...items }
    }
    // Unknown members are parsed too, since the whole body must be valid JSON.
    const value = readValue(part.value, part.key)
    switch (part.key) {
      case 'name':
        return { kind: 'name', value }
      case 'messagesPerSecond':
        return { kind: 'perSecond', value }
      case 'messages':
        return { kind: 'no messages' }
      default:
        return null
    }
  }

  return {
    push: (chunk: Buffer) =>
      members
        .push(chunk)
        .map(toPart)
        .filter(part => part !== null),
    end: members.end,
  }
}

/** The deepest nesting of a message: the same as for the body of a send. */
const DEEPEST = 32
const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')
const CLOSE_OBJECT = Buffer.from('}')

type Items = { rows: unknown[]; flaws?: Flaws }

/** Parses whole items of `messages`; `from` is the index of the first one. */
function readItems(items: Buffer, from: number): Items {
  const result = parseJson(Buffer.concat([OPEN, items, CLOSE]), { maxDepth: DEEPEST + 1 })
  if (!result.ok) return readEachItem(items, from)
  if (result.hasNulls) dropNulls(result.value)
  return { rows: result.value as unknown[] }
}

/**
 * Parses each item by itself, since one is faulty. If it is well-formed, and a send would refuse something in it at its
 * path, it is a row with a flaw. Any other fault is one of the body, named by the item's index in all of `messages`.
 */
function readEachItem(items: Buffer, from: number): Items {
  const flaws = new Map<number, Detail>()
  const rows = splitItems(items).map((item, at) => {
    const result = parseJson(item, { maxDepth: DEEPEST })
    if (result.ok) {
      dropNulls(result.value)
      return result.value
    }
    const { path, message, value } = result
    if (value === undefined) {
      throw new IntakeCut(invalidBody(pathBelow(`messages[${from + at}]`, path), message))
    }
    flaws.set(at, { path, message })
    // The canonical form of a row has no infinite numbers: they become null, which means absent.
    const row: unknown = JSON.parse(JSON.stringify(value))
    dropNulls(row)
    return row
  })
  return { rows, flaws }
}

/** Parsed together with its key, so that the keys that are refused in a row and in a send are refused here too. */
function readValue(value: Buffer, key: string): unknown {
  const result = parseJson(Buffer.concat([Buffer.from(`{${JSON.stringify(key)}:`), value, CLOSE_OBJECT]))
  if (result.ok) return (result.value as Record<string, unknown>)[key]
  // Without a path, a position counts from the key; by itself, from the value.
  const alone = result.path === '' ? parseJson(value) : null
  const { path, message } = alone?.ok === false ? { ...alone, path: joinPath([key]) } : result
  throw new IntakeCut(invalidBody(path, message))
}
