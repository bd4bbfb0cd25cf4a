import type { SandboxInbox, SubmittedTemplate } from '../../contract/sandbox-inbox.ts'
import type { Cancel } from '../../lib/clock.ts'
import type { Io, OfficialTemplate, StoredTemplateRef, TemplateOutcome, TemplateState } from '../provider.ts'
import { reasonOf } from './receipts.ts'

/** How long a review takes here. */
const REVIEW_MS = 1_000
/** How often to check for verdicts that another node planned and did not emit, because it died. */
const POLL_EVERY_MS = 5_000
const CLAIM_MS = 5_000
const CLAIM_ITEMS = 100

export type TemplateReview = {
  submit(template: OfficialTemplate): Promise<TemplateOutcome>
  read(name: string, language: string): Promise<TemplateState | null>
  remove(template: StoredTemplateRef): Promise<void>
  /** Emits no more verdicts; resolves when those in progress are emitted. */
  close(): Promise<void>
}

/**
 * Reviews templates: each is approved after a second, unless its name says otherwise
 * (`docs/sandbox.md`). The verdict is emitted when it is due, and `read` returns it from then on.
 */
export function createTemplateReview(inbox: SandboxInbox, io: Io): TemplateReview {
  const { clock, connectionId } = io
  let closed = false
  let cancel: Cancel = () => {}
  let nextAtMs = Number.POSITIVE_INFINITY
  let polling: Promise<void> = Promise.resolve()
  schedulePoll(clock.now() + POLL_EVERY_MS)

  /** Plans the next check for `atMs`, unless an earlier one is planned already. */
  function schedulePoll(atMs: number): void {
    if (closed || atMs >= nextAtMs) return
    cancel()
    nextAtMs = atMs
    cancel = clock.after(Math.max(0, atMs - clock.now()), () => {
      nextAtMs = Number.POSITIVE_INFINITY
      polling = polling.then(poll)
    })
  }

  async function poll(): Promise<void> {
    schedulePoll(await emitAllDue().catch(logFailure))
  }

  /** When to check next, in ms since the epoch. */
  async function emitAllDue(): Promise<number> {
    const nowMs = clock.now()
    const dueAtMs = await inbox.nextDecisionAt(connectionId, nowMs)
    if (dueAtMs === null || dueAtMs > nowMs)
      return Math.min(dueAtMs ?? Number.POSITIVE_INFINITY, nowMs + POLL_EVERY_MS)
    const claimed = await inbox.claimDecisions({
      connectionId,
      nowMs,
      claimedUntilMs: nowMs + CLAIM_MS,
      limit: CLAIM_ITEMS,
    })
    await io.emit(
      claimed.map(each => ({ kind: 'template', eventId: idOf(each), state: stateOf(each, clock.now()) })),
    )
    // Only verdicts that were stored are finished; the others are emitted again when the claim runs out.
    await inbox.finishDecisions(claimed.map(({ id }) => id))
    // Another node has claimed them all.
    return claimed.length === 0 ? nowMs + POLL_EVERY_MS : nowMs
  }

  function logFailure(error: unknown): number {
    io.log.warn({ reason: reasonOf(error) }, 'sandbox: verdicts on templates are delayed')
    return clock.now() + POLL_EVERY_MS
  }

  return {
    async submit({ name, language }) {
      if (name.includes('timeout')) return UNREACHABLE
      const decidedAtMs = clock.now() + REVIEW_MS
      try {
        const id = await inbox.storeTemplate({ connectionId, name, language, decidedAtMs })
        schedulePoll(decidedAtMs)
        const planted = { id, name, language, decidedAtMs }
        return { kind: 'submitted', state: stateOf(planted, clock.now()) }
      } catch (error) {
        io.log.warn({ reason: reasonOf(error) }, 'sandbox: a template could not be stored')
        return { kind: 'unavailable', detail: 'the sandbox could not store the template' }
      }
    },
    async read(name, language) {
      const planted = await inbox.findTemplate({ connectionId, name, language })
      return planted && stateOf(planted, clock.now())
    },
    remove: ({ name, language, providerTemplateId }) =>
      inbox.removeTemplate({ connectionId, name, language }, readId(providerTemplateId)),
    async close() {
      closed = true
      cancel()
      await polling
    },
  }
}

const UNREACHABLE: TemplateOutcome = {
  kind: 'unavailable',
  detail: 'the sandbox never answers for a template whose name contains timeout',
}

function idOf({ id }: SubmittedTemplate): string {
  return `sbt_${id}`
}

/** Null for no id, and for one that is not ours. */
function readId(providerTemplateId: string | null): number | null {
  const [, id] = /^sbt_(\d{1,15})$/.exec(providerTemplateId ?? '') ?? []
  return id === undefined ? null : Number(id)
}

function stateOf(planted: SubmittedTemplate, nowMs: number): TemplateState {
  const { name, language, decidedAtMs } = planted
  const known = { providerTemplateId: idOf(planted), name, language }
  if (decidedAtMs > nowMs) return { ...known, status: 'pending', reason: null }
  return name.includes('reject')
    ? { ...known, status: 'rejected', reason: 'The sandbox rejects templates whose name contains reject.' }
    : { ...known, status: 'approved', reason: null }
}
