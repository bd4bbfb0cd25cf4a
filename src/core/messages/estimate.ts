import type { Caller } from '../../contract/caller.ts'
import { Problem } from '../../contract/errors.ts'
import type { Estimate } from '../../contract/estimate.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { toIso } from '../../lib/clock.ts'
import type { AccountId } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import { waitingBytesOf } from './accept-message.ts'
import type { Planned, Prepared } from './prepare.ts'
import { type ResolveDeps, resolveSend } from './resolve.ts'

export type EstimateDeps = ResolveDeps & {
  /** Throws CONFLICT if there is no room for a file that would wait in the database. */
  checkRoom(accountId: AccountId, bytes: number): Promise<void>
  /** What would pay for it now; null if neither pool nor wallet covers it. */
  funding(prepared: Prepared): Promise<'pool' | 'wallet' | null>
}

/** Estimates a send by the same steps as the send itself; sends and charges nothing. */
export type EstimateSend = (caller: Caller, body: SingleSendBody) => Promise<Estimate>

export function createEstimate(deps: EstimateDeps): EstimateSend {
  return async (caller, body) => {
    const estimate: Estimate = {
      deliverable: false,
      reasons: [],
      resolved: null,
      rendered: null,
      sms: null,
      billing: null,
    }
    try {
      const resolved = await resolveSend(body, caller, deps)
      const planned = resolved.kind === 'prepared' ? resolved.prepared : resolved.planned
      if (planned) describe(estimate, planned)
      if (resolved.kind === 'refused') throw resolved.problem
      const waitingBytes = waitingBytesOf(resolved.prepared)
      if (waitingBytes > 0) await deps.checkRoom(resolved.prepared.accountId, waitingBytes)
      await bill(estimate, resolved.prepared)
      estimate.deliverable = true
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      estimate.reasons = reasonsOf(error)
    }
    return estimate
  }

  async function bill(estimate: Estimate, prepared: Prepared): Promise<void> {
    const source = await deps.funding(prepared)
    estimate.billing = {
      estimatedCost: fromMicros(prepared.amount),
      currency: prepared.currency,
      ...(prepared.parts !== null && { parts: prepared.parts }),
      source: source ?? 'wallet',
    }
    // A test key costs nothing, whatever the wallet holds.
    if (source === null && prepared.mode === 'live') throw new Problem('INSUFFICIENT_BALANCE')
  }
}

function describe(estimate: Estimate, planned: Planned): void {
  estimate.resolved = {
    channel: planned.channel,
    provider: planned.provider,
    senderSource: planned.senderSource,
    channels: [...planned.candidates],
  }
  estimate.rendered = { text: planned.rendered.text, subject: planned.rendered.subject }
  estimate.sms = planned.rendered.sms
  if (planned.scheduledAt !== null) estimate.scheduledAt = toIso(planned.scheduledAt)
}

function reasonsOf(problem: Problem): Estimate['reasons'] {
  const details = problem.details ?? [{ path: '', message: problem.message }]
  return details.map(({ path, message }) => ({ code: problem.code, path, message }))
}
