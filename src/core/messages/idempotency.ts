import type { AccountSnapshot } from '../../contract/caller.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { isUsableKey, MAX_KEY_CHARACTERS } from '../../contract/idempotency-key.ts'
import type { Db } from '../../infra/db.ts'
import { canonicalHash } from '../../lib/canonical-json.ts'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS } from '../../lib/durations.ts'
import { type AccountId, type MessageId, timeOf } from '../../lib/ids.ts'
import { type Answer, insufficientAnswer } from './answers.ts'
import { readFirstAnswer, renderFirstAnswer } from './first-word.ts'
import { type ExistingKey, type KeyClaim, SEND_OPERATION } from './hot-store.ts'
import {
  answerIsPending,
  claimForRefusal,
  dropExpiredKey,
  dropKeyOf,
  readKey,
  type StoredKey,
} from './idempotency-store.ts'
import { vouchFor } from './vouch-store.ts'

export type Idempotency = {
  /**
   * The key of a request, or null without one; throws a 400 when it is not usable. Where `identity` is
   * given, requests are told apart by it instead of the body: by a file's bytes, not by its id of today.
   */
  claim(headerKey: string | undefined, body: KeyedBody, identity?: unknown): KeyClaim | null
  /** Stores a refusal under its key. Null when stored; the key that was there first otherwise. */
  storeRefusal(accountId: AccountId, claim: KeyClaim, answer: Answer): Promise<StoredKey | null>
  /** What a key that was there before says to this request; 'free' when it says nothing any more and was freed. */
  replay(account: AccountSnapshot, claim: KeyClaim, existing: ExistingKey): Promise<Answer | Problem | 'free'>
  /** What a key says already; null when it is free. */
  find(accountId: AccountId, claim: KeyClaim): Promise<StoredKey | null>
  /** The refusal of a request whose key another one is at work on. */
  inProgress(): Problem
}

/** A body that may name its key; whether it is valid is not known yet. */
export type KeyedBody = { idempotencyKey?: string; options?: { idempotencyKey?: string } }

export type IdempotencyDeps = {
  db: Db
  clock: Clock
  /** The longest that a request waits for its provider, in ms. */
  syncWaitMs: number
  /** Scopes the keys; sends where absent. */
  operation?: number
  /** How the operation answers for a message that has a key. */
  answers?: KeyedAnswers
}

export type KeyedAnswers = {
  /** Whether a request may still be waiting to give the first answer. */
  pending(accountId: AccountId, id: MessageId): Promise<boolean>
  /** Settles the first answer now and gives it, as a replay; null when there is no such message. */
  now(account: AccountSnapshot, id: MessageId): Promise<Answer | null>
}

const NEVER_STORED: readonly number[] = [401, 409, 413, 415, 429]

/** Whether a refusal was a decision on the body, and not on the moment: its key answers it again. */
export function isDecision({ status, unread }: Problem): boolean {
  return status < 500 && !unread && !NEVER_STORED.includes(status)
}

export const REPLAY_WINDOW_MS = 24 * HOUR_MS
/** Beyond its wait, a living request needs this long at most to write its answer down. */
const ANSWER_GRACE_MS = 3_000

/**
 * The same key answers the same, for 24 hours. A message that was accepted
 * answers from its own row, so that a crash can leave no key without an answer;
 * only refusals are stored as text.
 */
export function createIdempotency(deps: IdempotencyDeps): Idempotency {
  const { db, clock, operation = SEND_OPERATION, answers = sendAnswers(db) } = deps

  async function replay(account: AccountSnapshot, claim: KeyClaim, existing: ExistingKey) {
    const expiresBeforeMs = clock.now() - REPLAY_WINDOW_MS
    if (existing.createdAt < expiresBeforeMs) {
      await dropExpiredKey(db, account.id, claim, expiresBeforeMs)
      return 'free'
    }
    if (!existing.bodyHash.equals(claim.bodyHash)) return new Problem('IDEMPOTENCY_KEY_CONFLICT')
    if (existing.status !== null) return storedAnswer(existing)
    // A batch: the same body is answered by send-batch.ts, and never comes here.
    if (existing.messageId === null) return inProgress()
    return replayMessage(account, claim, existing.messageId)
  }

  async function replayMessage(account: AccountSnapshot, claim: KeyClaim, id: MessageId) {
    const ageMs = clock.now() - timeOf(id)
    if (ageMs < deps.syncWaitMs + ANSWER_GRACE_MS && (await answers.pending(account.id, id))) {
      return inProgress()
    }
    const vouched = await vouchFor(db, account.id, [id])
    // Its key goes with it, at any moment.
    if (vouched.get(id)?.takenBack) return inProgress()
    const answer = await answers.now(account, id)
    // A message that failed by itself after a crash, when nobody waited for it: a 5xx is never replayed.
    if (answer && answer.status >= 500) {
      await dropKeyOf(db, account.id, claim, id)
      return 'free'
    }
    return answer ?? inProgress()
  }

  return {
    claim: (headerKey, body, identity) => readClaim(operation, headerKey, body, identity),
    storeRefusal: (accountId, claim, answer) => claimForRefusal(db, accountId, claim, answer, clock.now()),
    replay,
    find: (accountId, claim) => readKey(db, accountId, claim),
    inProgress,
  }
}

function sendAnswers(db: Db): KeyedAnswers {
  return {
    pending: (accountId, id) => answerIsPending(db, accountId, id, timeOf(id)),
    async now({ id: accountId, currency }, id) {
      const told = await readFirstAnswer(db, accountId, id, currency)
      return told && renderFirstAnswer(told, true)
    },
  }
}

/** Header before body, body before options; the keys themselves are not part of what is compared. */
function readClaim(
  operation: number,
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
  // A key in the body of the wrong type or length is named by the schema.
  if (typeof key !== 'string' || !isUsableKey(key)) return null
  return { operation, key, bodyHash: canonicalHash(withoutKeys(identity)) }
}

/**
 * What is no JSON object has no keys in it, and is refused for itself. Options that are empty, be it for
 * want of the key, are none: whether the key stood in them must not tell two bodies apart.
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
  if (existing.body === null) return insufficientAnswer(existing.messageId!, true)
  return {
    status: existing.status!,
    body: existing.body,
    replayed: true,
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
