import type { Caller } from '../../contract/caller.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { BatchResult, SendBody } from '../../contract/send.ts'
import { DatabaseUnavailable, mayHaveBeenExecuted, UNIQUE_VIOLATION } from '../../infra/db.ts'
import { type AccountId, type Ids, type MessageId, type RequestId, withPrefix } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { splitByWeight } from '../../lib/split-by-weight.ts'
import type { Accept } from './accept.ts'
import type { AcceptMessage } from './accept-message.ts'
import { type Answer, problemAnswer } from './answers.ts'
import type { Batches, UnfinishedBatch } from './batches.ts'
import type { ConfirmedMessage } from './confirm-store.ts'
import { checkContent } from './content.ts'
import type { AcceptRow, KeyClaim } from './hot-store.ts'
import { type Idempotency, isExpired } from './idempotency.ts'
import type { StoredKey } from './idempotency-store.ts'
import type { Prepared } from './prepare.ts'
import { refuseOnce } from './refuse.ts'
import { type ResolveDeps, resolveSend } from './resolve.ts'
import { readSchedule } from './schedule.ts'

export type SendBatchDeps = ResolveDeps & {
  ids: Ids
  accept: Pick<Accept, 'add'>
  acceptMessage: AcceptMessage
  idempotency: Idempotency
  batches: Batches
  log: Log
}

export type SendBatchRequest = {
  requestId: RequestId
  caller: Caller
  body: SendBody & { to: string[] }
  headerKey: string | undefined
  /** Compared instead of the body for requests with the same key, if given: a file counts by its bytes. */
  identity?: unknown
}

export type SendBatch = (request: SendBatchRequest) => Promise<Answer>

type Result = BatchResult['results'][number]
/** A new batch, or one that a repeat takes up. */
type BatchToRun = Pick<UnfinishedBatch, 'ids'> & Partial<UnfinishedBatch>
type Run = { results: readonly Result[]; answer: Answer }
type Item = { to: string; id: MessageId; takenUpAt?: number } & (
  | { accepted: null; prepared: Prepared | Problem }
  /** Accepted by an earlier request with this key; reported as it was accepted then. */
  | { accepted: ConfirmedMessage; prepared: null }
)

/** Bytes in the request are stored once per recipient; at most so many in all. */
const MAX_ATTACHED_BYTES = 64 * 1024 * 1024
/**
 * Characters that are accepted at once. A hundred mails of half a million each would exceed the statement's
 * time-out, and fail together with the sends of others in the same flush.
 */
const MAX_CHARACTERS_AT_ONCE = 4_000_000
/** No accept starts after this time; with the wait of the last one, a batch ends within MAX_REQUEST_MS (batches.ts). */
const MAX_ACCEPT_MS = 6_000

/**
 * Sends one body to each of up to a hundred recipients: each is planned, priced and accepted
 * separately, in one transaction up to its size limit. A batch never waits for the
 * provider.
 */
export function createSendBatch(deps: SendBatchDeps): SendBatch {
  const { idempotency, batches } = deps

  async function sendBatch(request: SendBatchRequest): Promise<Answer> {
    let claim: KeyClaim | null = null
    try {
      claim = idempotency.claim(request.headerKey, request.body, request.identity)
      checkBatch(request, deps.clock.now())
      const ids = request.body.to.map(() => deps.ids.next('msg'))
      if (!claim) return (await run(request, { ids })).answer
      return await runWithKey(request, claim, ids)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const accountId = request.caller.account.id
      const refused = {
        problem: error,
        id: withPrefix('msg', request.requestId),
        accountId,
        claim,
        refusedBy: null,
      }
      return refuseOnce(refused, idempotency, (existing, claim) => replay(request, claim, existing))
    }
  }

  /** Claims the key with the ids before anything is accepted, so that after a crash a repeat finishes the batch. */
  async function runWithKey(request: SendBatchRequest, claim: KeyClaim, ids: MessageId[]): Promise<Answer> {
    const accountId = request.caller.account.id
    const claimed = await batches.claim(accountId, claim, ids)
    if (typeof claimed !== 'number') return replay(request, claim, claimed)
    return complete(request, claim, claimed, { ids })
  }

  async function replay(request: SendBatchRequest, claim: KeyClaim, existing: StoredKey): Promise<Answer> {
    const unfinished = existing.batch !== null && existing.status === null
    if (unfinished && !isExpired(existing, deps.clock.now()) && existing.bodyHash.equals(claim.bodyHash)) {
      const left = await batches.claimUnfinished(request.caller.account.id, claim, existing)
      if (!left) return inProgress(request)
      return complete(request, claim, left.takenUpAt, left)
    }
    const answer = await idempotency.replay(request.caller.account, claim, existing)
    if (answer === 'free') return sendBatch(request)
    if (answer instanceof Problem) return problemAnswer(answer, withPrefix('msg', request.requestId))
    return { ...answer, sandbox: await batches.isSimulated(request.caller.account.id, existing) }
  }

  /**
   * Sends the claimed batch, and stores the answer. A request that was so slow that a repeat has taken up its batch
   * leaves the answer to that one, and one of which the database did not confirm all recipients to the next one.
   */
  async function complete(
    request: SendBatchRequest,
    claim: KeyClaim,
    claimedAtMs: number,
    batch: BatchToRun,
  ): Promise<Answer> {
    const accountId = request.caller.account.id
    let isStored = false
    try {
      const { results, answer: own } = await run(request, batch)
      // Whether these recipients are stored after all, a repeat finds out, and finishes the batch.
      if (results.some(({ code }) => code === 'SERVICE_UNAVAILABLE')) return unavailable(request)
      const answer = { ...own, replayed: batch.takenUpAt !== undefined }
      isStored = await batches.finish(accountId, claim, claimedAtMs, answer)
      return isStored ? answer : inProgress(request)
    } finally {
      if (!isStored) batches.leave(accountId, claim, claimedAtMs)
    }
  }

  function unavailable({ requestId }: SendBatchRequest): Answer {
    const problem = new Problem('SERVICE_UNAVAILABLE', undefined, { retryAfterSeconds: 1 })
    return problemAnswer(problem, withPrefix('msg', requestId))
  }

  function inProgress({ requestId }: SendBatchRequest): Answer {
    return problemAnswer(idempotency.inProgress(), withPrefix('msg', requestId))
  }

  async function run(request: SendBatchRequest, { ids, accepted, takenUpAt }: BatchToRun): Promise<Run> {
    const items = await Promise.all(
      request.body.to.map(async (to, at): Promise<Item> => {
        const item = await prepareItem(request, to, ids[at]!, accepted?.get(ids[at]!))
        return takenUpAt === undefined ? item : { ...item, takenUpAt }
      }),
    )
    const results = await acceptAll(request, items)
    return { results, answer: toAnswer(request, results, items) }
  }

  async function acceptAll(request: SendBatchRequest, items: readonly Item[]): Promise<Result[]> {
    const accountId = request.caller.account.id
    const untilMs = deps.clock.monotonic() + MAX_ACCEPT_MS
    const results: Result[] = []
    for (const some of splitByWeight(items, charactersOf, MAX_CHARACTERS_AT_ONCE)) {
      const inTime = deps.clock.monotonic() < untilMs
      results.push(
        ...(await Promise.all(
          some.map(item => (inTime ? acceptItem(accountId, item) : refuseLate(accountId, item))),
        )),
      )
    }
    return results
  }

  /** After the time limit: refuses an item, unless its result is known already. */
  async function refuseLate(accountId: AccountId, item: Item): Promise<Result> {
    if (item.accepted || item.prepared instanceof Problem) return acceptItem(accountId, item)
    return failedResult(item, new Problem('SERVICE_UNAVAILABLE'))
  }

  async function prepareItem(
    request: SendBatchRequest,
    to: string,
    id: MessageId,
    accepted: ConfirmedMessage | undefined,
  ): Promise<Item> {
    // Not resolved again: its schedule may be over, or its channel unavailable by now.
    if (accepted) return { to, id, accepted, prepared: null }
    const resolved = await resolveSend({ ...request.body, to }, request.caller, deps)
    const prepared = resolved.kind === 'prepared' ? resolved.prepared : resolved.problem
    return { to, id, accepted: null, prepared }
  }

  async function acceptItem(accountId: AccountId, item: Item): Promise<Result> {
    if (item.accepted) return acceptedResult(item, item.accepted.scheduled)
    if (item.prepared instanceof Problem) return failedResult(item, item.prepared)
    try {
      const verdict = await acceptPrepared(item, item.prepared)
      if (verdict.kind === 'known') return await recallItem(accountId, item)
      if (verdict.kind === 'accepted') return acceptedResult(item, item.prepared.scheduledAt !== null)
      if (verdict.kind === 'insufficient') return failedResult(item, new Problem('INSUFFICIENT_BALANCE'))
      return refusedResult(item, verdict.kind === 'faulty' ? verdict.cause : verdict)
    } catch (error) {
      return refusedResult(item, error)
    }
  }

  /** In a repeated batch marked with the time of the repeat: an earlier request may still withdraw what itself stored under this id. */
  function acceptPrepared({ id, takenUpAt }: Item, prepared: Prepared) {
    return deps.acceptMessage(id, prepared, null, row =>
      acceptUnlessKnown(takenUpAt === undefined ? row : { ...row, takenUpAt }),
    )
  }

  /**
   * `known`: another request with the key of the batch has accepted it: an earlier one, which committed after this one had
   * looked for its messages, or a repeat that took up the batch because this one was slow.
   */
  async function acceptUnlessKnown(row: AcceptRow) {
    const verdict = await deps.accept.add(row)
    const isStored =
      verdict.kind === 'faulty' && (verdict.cause as { code?: unknown }).code === UNIQUE_VIOLATION
    return isStored ? ({ kind: 'known' } as const) : verdict
  }

  async function recallItem(accountId: AccountId, item: Item): Promise<Result> {
    const found = await batches.recall(accountId, item.id)
    if (found) return acceptedResult(item, found.scheduled)
    return failedResult(item, new Problem('SERVICE_UNAVAILABLE'))
  }

  /** An error of one item is reported for that item only. */
  function refusedResult(item: Item, error: unknown): Result {
    if (error instanceof Problem) return failedResult(item, error)
    if (error instanceof DatabaseUnavailable) {
      return mayHaveBeenExecuted(error)
        ? unconfirmedResult(item)
        : failedResult(item, new Problem('SERVICE_UNAVAILABLE'))
    }
    deps.log.warn({ err: error, messageId: item.id }, 'a recipient of a batch could not be accepted')
    return failedResult(item, new Problem('INTERNAL_ERROR'))
  }

  return sendBatch
}

/** Throws a 400 for faults that do not depend on the recipient, and for what a batch does not allow. */
function checkBatch({ body, caller }: SendBatchRequest, nowMs: number): void {
  checkContent(body)
  readSchedule(body.options?.scheduleAt, caller.account.plan, nowMs)
  if (body.channel === 'botapp_bot' || body.conversationContext?.moduleType === 'botapp_bot') {
    throw invalid('to', 'must be one chat id: a batch cannot be sent to bots')
  }
  const attachedBytes = (body.attachment?.base64?.length ?? 0) * 0.75
  if (attachedBytes * body.to.length > MAX_ATTACHED_BYTES) {
    throw invalid(
      'attachment.base64',
      `is too large for ${body.to.length} recipients: at most 64 MB in all; give publicUrl instead`,
    )
  }
}

/** The approximate size of a message in the database. */
function charactersOf({ prepared }: Item): number {
  return prepared === null || prepared instanceof Problem ? 0 : prepared.rendered.text.length
}

function acceptedResult(item: Item, scheduled: boolean): Result {
  return {
    to: item.to,
    success: true,
    requestId: withPrefix('req', item.id),
    status: scheduled ? 'scheduled' : 'queued',
    messageId: item.id,
  }
}

function failedResult(item: Item, problem: Problem): Result {
  return {
    to: item.to,
    success: false,
    requestId: withPrefix('req', item.id),
    status: 'failed',
    code: problem.code,
    error: problem.message,
  }
}

/**
 * Its message may be stored nevertheless. It will be withdrawn, but not if another node begins it before, or this one
 * ends: only its id tells the sender.
 */
function unconfirmedResult(item: Item): Result {
  return { ...failedResult(item, new Problem('SERVICE_UNAVAILABLE', UNCONFIRMED_TEXT)), messageId: item.id }
}

const UNCONFIRMED_TEXT =
  'The database did not confirm this message in time, and it may still be sent: read it by its messageId before ' +
  'you send it again.'

function isSimulated({ accepted, prepared }: Item): boolean {
  return !(prepared instanceof Problem) && (accepted ?? prepared).provider === SANDBOX
}

function toAnswer(request: SendBatchRequest, results: Result[], items: readonly Item[]): Answer {
  const failures = results.filter(result => !result.success).length
  const body: BatchResult = {
    success: failures < results.length,
    batch: true,
    requestId: request.requestId,
    summary: { total: results.length, sent: 0, queued: results.length - failures, failed: failures },
    results,
  }
  return {
    status: failures === 0 ? 200 : 207,
    body: JSON.stringify(body),
    replayed: false,
    sandbox: items.some((item, at) => results[at]!.success && isSimulated(item)),
    retryAfterSeconds: null,
  }
}
