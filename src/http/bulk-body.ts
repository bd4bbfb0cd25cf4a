import type { IncomingMessage } from 'node:http'
import { Problem } from '../contract/errors.ts'
import { type BulkPart, type BulkPiece, invalidBody } from '../core/bulk/body-reader.ts'
import { IntakeCut } from '../core/bulk/intake.ts'
import type { Cancel, Clock } from '../lib/clock.ts'
import { createJsonMembers, JsonMembersFault, type JsonPart } from '../lib/json-members.ts'
import { pathBelow } from '../lib/json-path.ts'
import { parseJson } from '../lib/json-source.ts'
import { dropNulls } from './json-body.ts'

export type BulkBodyLimits = {
  /** Of the whole body. */
  mostBytes: number
  /** Of one message: as much as a send may have. */
  mostMessageBytes: number
  /** For the whole body to arrive. */
  timeoutMs: number
}

/** Longest value of a member that is none of ours. */
const MOST_MEMBER_BYTES = 1_048_576
/** A sender who is waited for so long, and brings less than this meanwhile, is not waited for any more. */
const STALL_MS = 30_000
const LEAST_BYTES_IN_TIME = 16 * 1024

/**
 * The body of a bulk job as it comes in, as fast as it is read: at most one
 * message and what came with it is held. Throws the Problem that it is, or an
 * IntakeCut where it ends too soon, stalls, or is no JSON.
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

/** The chunks of a request; an IntakeCut where it breaks off, comes too slowly, or takes too long. */
async function* readInTime(
  request: IncomingMessage,
  timeoutMs: number,
  clock: Clock,
): AsyncGenerator<Buffer> {
  // Left early, the request goes on: its answer must still reach the sender.
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
    // Not awaited: it waits for a chunk that may never come. Until then nobody else can read.
    chunks.return?.().catch(() => {})
  }
}

/**
 * Ends when the body took too long in all, or when hardly anything came in a long time of waiting
 * for it: what we take to store a piece is not the sender's.
 */
function createReadTimer(timeoutMs: number, clock: Clock) {
  let over = false
  let endWait = () => {}
  /** Of the wait, and in it, since the last look. */
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
    if (receivedBytes < LEAST_BYTES_IN_TIME) {
      end()
      return
    }
    receivedBytes = 0
    waitedMs = 0
    wait()
  }

  return {
    /** What comes first. Not by Promise.race, which would keep every chunk for as long as nothing is over. */
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

/** Cuts the body into messages, and reads each of them as strictly as a send. */
function createReader(mostMessageBytes: number) {
  const members = createJsonMembers({
    array: 'messages',
    maxItemBytes: mostMessageBytes,
    maxMemberBytes: MOST_MEMBER_BYTES,
  })
  let read = 0

  function toPart(part: JsonPart): BulkPart | null {
    if (part.kind === 'opened') return { kind: 'messages' }
    if (part.kind === 'items') {
      const rows = readItems(part.items, read)
      read += rows.length
      return { kind: 'rows', rows }
    }
    // Read even where nobody asks for it: the body is JSON or it is not.
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

/** A message may be nested as deeply as the body of a send. */
const DEEPEST = 32
const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

/** `from` is the index of the first of them. */
function readItems(items: Buffer, from: number): unknown[] {
  const result = parseJson(Buffer.concat([OPEN, items, CLOSE]), { maxDepth: DEEPEST + 1 })
  if (!result.ok) throw new IntakeCut(invalidBody(`messages${shiftIndex(result.path, from)}`, result.message))
  if (result.hasNulls) dropNulls(result.value)
  return result.value as unknown[]
}

/** A path into these items as one into all of them. */
function shiftIndex(path: string, from: number): string {
  return path.replace(/^\[(\d+)\]/, (_, at: string) => `[${from + Number(at)}]`)
}

function readValue(value: Buffer, key: string): unknown {
  const result = parseJson(value)
  if (result.ok) return result.value
  throw new IntakeCut(invalidBody(pathBelow(key, result.path), result.message))
}
