import type { AccountSnapshot } from '../../contract/caller.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { isUsableKey, MAX_KEY_CHARACTERS } from '../../contract/idempotency-key.ts'
import type { Db } from '../../infra/db.ts'
import type { Seal } from '../../infra/seal.ts'
import { canonicalize } from '../../lib/canonical-json.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { type AccountId, type MessageId, timeOf } from '../../lib/ids.ts'
import { createLru } from '../../lib/lru.ts'
import { type Answer, asReplay, insufficientAnswer } from './answers.ts'
import { confirmMessages } from './confirm-store.ts'
import { fixFirstAnswer, renderFirstAnswer } from './first-answer.ts'
import { type ExistingKey, type KeyClaim, SEND_OPERATION } from './hot-store.ts'
import {
  claimKeyForRefusal,
  dropExpiredKey,
  dropMessageKey,
  isAnswerPending,
  readKey,
  type StoredKey,
} from './idempotency-store.ts'

export type Idempotency = {
  /**
   * The key of a request, or null without one; throws a 400 if it is not usable. `identity`, if given, is
   * compared instead of the body: a file counts by its bytes, not by the id that it got in this request.
   */
  claim(headerKey: string | undefined, body: KeyedBody, identity?: unknown): KeyClaim | null
  /** Stores a refusal under its key. Null if stored; else the key that existed already. */
  storeRefusal(accountId: AccountId, claim: KeyClaim, answer: Answer): Promise<StoredKey | null>
  /** The answer of an existing key to this request; 'free' if the key has expired, or had no answer to replay, and was freed. */
  replay(account: AccountSnapshot, claim: KeyClaim, existing: ExistingKey): Promise<Answer | Problem | 'free'>
  /** Frees a key if it belongs to this message. */
  free(accountId: AccountId, claim: KeyClaim, id: MessageId): Promise<void>
  /** Reads a key; null if it is free. */
  find(accountId: AccountId, claim: KeyClaim): Promise<StoredKey | null>
  /** The 409 for a request whose key another request is using now. */
  inProgress(): Problem
}

/** A body that may contain its key; it is not validated yet. */
export type KeyedBody = { idempotencyKey?: string; options?: { idempotencyKey?: string } }

export type IdempotencyDeps = {
  db: Db
  clock: Clock
  /** Hashes bodies by a key: one that holds a one-time code could be found by trying all codes otherwise. */
  seal: Pick<Seal, 'hashSecret'>
  /** How long a request waits for its provider, in ms. */
  syncWaitMs: number
  /** The scope of the keys; sends if absent. */
  operation?: number
  /** How the operation answers for a message that has a key; as a send if absent. */
  answers?: KeyedAnswers
}

export type KeyedAnswers = {
  /** Whether a request may still be waiting to give the first answer. */
  isPending(accountId: AccountId, id: MessageId): Promise<boolean>
  /** Stores the first answer if there is none yet, and returns it; null if there is no such message. */
  fixFirst(account: AccountSnapshot, id: MessageId): Promise<Answer | null>
}

const NEVER_STORED: readonly number[] = [401, 409, 413, 415, 429]

/** Whether a refusal depends on the body and not on the moment: then it is stored under its key. */
export function isDecision({ status, isBodyUnreadable }: Problem): boolean {
  return status < 500 && !isBodyUnreadable && !NEVER_STORED.includes(status)
}

export const REPLAY_WINDOW_MS = 24 * HOUR_MS

/** Whether a key is older than the replay window, and so free, although it is not deleted yet. */
export function isExpired({ createdAt }: Pick<ExistingKey, 'createdAt'>, nowMs: number): boolean {
  return createdAt < nowMs - REPLAY_WINDOW_MS
}

/** The longest that a request takes to store its answer after its wait, in ms. */
const ANSWER_GRACE_MS = 3_000
/** Messages without an answer whose first conflict is remembered. */
const MAX_PENDING = 10_000

/**
 * The same key gives the same answer, for 24 hours. The answer for an accepted message follows
 * from its row, so that a crash cannot leave a key without an answer; only refusals are
 * stored as text.
 */
export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const { db, clock, seal, operation = SEND_OPERATION, answers = sendAnswers(db) } = deps
  const longestMs = deps.syncWaitMs + ANSWER_GRACE_MS
  /** When a request first found a message without an answer, in ms of the monotonic clock. */
  const foundPendingAtMs = createLru<MessageId, number>(MAX_PENDING)

  /**
   * Whether the request of a message may still be waiting to give the first answer. Not by the message's age alone,
   * which an earlier clock lowers.
   */
  async function isPending(accountId: AccountId, id: MessageId): Promise<boolean> {
    if (clock.now() - timeOf(id) >= longestMs) return false
    if (!(await answers.isPending(accountId, id))) return false
    const nowMs = clock.monotonic()
    const foundAtMs = foundPendingAtMs.get(id)
    if (foundAtMs === undefined) foundPendingAtMs.set(id, nowMs)
    return foundAtMs === undefined || nowMs - foundAtMs < longestMs
  }

  async function replay(account: AccountSnapshot, claim: KeyClaim, existing: ExistingKey) {
    const nowMs = clock.now()
    if (isExpired(existing, nowMs)) {
      await dropExpiredKey(db, account.id, claim, nowMs - REPLAY_WINDOW_MS)
      return 'free'
    }
    if (!existing.bodyHash.equals(claim.bodyHash)) return new Problem('IDEMPOTENCY_KEY_CONFLICT')
    if (existing.status !== null) return asReplay(storedAnswer(existing))
    // A batch: send-batch.ts replays it to a batch, so this request is another one.
    if (existing.messageId === null) return inProgress()
    return replayMessage(account, claim, existing.messageId)
  }

  async function replayMessage(account: AccountSnapshot, claim: KeyClaim, id: MessageId) {
    if (await isPending(account.id, id)) return inProgress()
    const confirmed = await confirmMessages(db, account.id, [id])
    // Its key is freed together with it, in a moment.
    if (confirmed.get(id)?.isWithdrawn) return inProgress()
    const answer = await answers.fixFirst(account, id)
    // The message failed after a crash, when no request waited for it: a 5xx is never replayed.
    if (answer && answer.status >= 500) {
      await dropMessageKey(db, account.id, claim, id)
      return 'free'
    }
    return answer ? asReplay(answer) : inProgress()
  }

  return {
    claim: (headerKey, body, identity) => readClaim(operation, seal, headerKey, body, identity),
    storeRefusal: (accountId, claim, answer) => claimKeyForRefusal(db, accountId, claim, answer, clock.now()),
    replay,
    free: (accountId, claim, id) => dropMessageKey(db, accountId, claim, id),
    find: (accountId, claim) => readKey(db, accountId, claim),
    inProgress,
  }
}

function sendAnswers(db: Db): KeyedAnswers {
  return {
    isPending: (accountId, id) => isAnswerPending(db, accountId, id, timeOf(id)),
    async fixFirst({ id: accountId, currency }, id) {
      const first = await fixFirstAnswer(db, accountId, id, currency)
      return first && renderFirstAnswer(first)
    },
  }
}

/** Header before body, body before options; the keys themselves are not compared. */
function readClaim(
  operation: number,
  seal: Pick<Seal, 'hashSecret'>,
  headerKey: string | undefined,
  body: KeyedBody,
  identity: unknown = body,
): KeyClaim | null {
  const given = (body ?? {}) as { idempotencyKey?: unknown; options?: { idempotencyKey?: unknown } | null }
  const key = headerKey ?? given.idempotencyKey ?? given.options?.idempotencyKey
  if (key === undefined || key === null) return null
  if (headerKey !== undefined && !isUsableKey(headerKey)) {
    throw invalid('Idempotency-Key', `must have 1 to ${MAX_KEY_CHARACTERS} characters`)
  }
  // For a key in the body, the schema reports a wrong type or length.
  if (typeof key !== 'string' || !isUsableKey(key)) return null
  return { operation, key, bodyHash: seal.hashSecret(`request:${canonicalize(withoutKeys(identity))}`) }
}

/**
 * The body without idempotency keys. Empty options count as absent, so that two bodies do not differ by
 * whether the key was in the options. A body that is not a JSON object is returned as it is, and refused later.
 */
function withoutKeys(body: unknown): unknown {
  if (!isObject(body)) return body ?? null
  const { idempotencyKey: _, ...rest } = body
  if (!isObject(rest['options'])) return rest
  const { idempotencyKey: __, ...options } = rest['options']
  const { options: ___, ...bare } = rest
  return Object.keys(options).length === 0 ? bare : { ...bare, options }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]'
}

function storedAnswer(existing: ExistingKey): Answer {
  if (existing.body === null) return insufficientAnswer(existing.messageId!)
  return {
    status: existing.status!,
    body: existing.body,
    replayed: false,
    sandbox: false,
    retryAfterSeconds: null,
  }
}

function inProgress(): Problem {
  return new Problem(
    'IDEMPOTENCY_KEY_CONFLICT',
    'A request with this idempotency key is still in progress.',
    {
      retryAfterSeconds: 1,
    },
  )
}
