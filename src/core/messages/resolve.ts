import type { Caller } from '../../contract/caller.ts'
import type { Channel } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import type { FindSuppressedChannels } from '../consent/lookup.ts'
import { notRegistered } from './answers.ts'
import { type Planned, type PrepareDeps, type Prepared, planSend, priceSend, type World } from './prepare.ts'
import { findSuppression, recipientSuppressed } from './suppression.ts'

export type ResolveDeps = PrepareDeps & {
  clock: Clock
  /** The data for planning, with the files and the conversation that `body` names. */
  world(caller: Pick<Caller, 'account'>, body?: SingleSendBody): World | Promise<World>
  /** Whether the provider can check before a send that it reaches the recipient. */
  checksRecipient(planned: Planned): boolean
  /** Whether the provider reaches the recipient; null if it did not respond in time. */
  reaches(planned: Planned): Promise<boolean | null>
  suppressedOn: FindSuppressedChannels
  /** Whether the 24-hour window for free text to a recipient is open at a time. */
  windowOpen(key: { connectionId: ConnectionId; recipient: string }, atMs: number): Promise<boolean>
}

/** The result for a body. A refusal has the planned send, if it came so far, for estimates. */
export type Resolved =
  | { kind: 'prepared'; prepared: Prepared }
  | ({ kind: 'refused'; planned: Planned | null } & Refusal)

/** Why a planned send is refused. */
export type Refusal = {
  problem: Problem
  /** Another channel may still carry it. */
  otherChannelAllowed: boolean
  /** The provider that refused it; null if Posthorn did. */
  refusedBy: string | null
}

/**
 * Turns a valid body into a send that is ready to be accepted, or into its refusal;
 * for sends, batches, estimates and bulk rows.
 *
 *   world       the account's data, from caches; all that `planSend` looks up
 *   planSend    recipient, route, text, sender; pure (prepare.ts)
 *   vetSend     checks of this channel that need a query or the provider
 *   priceSend   pure (prepare.ts)
 *
 * With `channel: auto`, a channel that does not reach the recipient is skipped for the next
 * candidate.
 */
export async function resolveSend(
  body: SingleSendBody,
  caller: Caller,
  deps: ResolveDeps,
): Promise<Resolved> {
  const world = await deps.world(caller, body)
  const excluded: Channel[] = []
  /** The first refusal, which the sender gets if no other channel carries the message. */
  let firstRefusal: (Refusal & { planned: Planned }) | null = null
  for (;;) {
    let planned: Planned | null = null
    try {
      planned = planSend(body, caller, world, deps.clock.now(), deps, excluded)
      const refusal = await vetSend(planned, deps)
      if (!refusal) return { kind: 'prepared', prepared: priceSend(planned, world) }
      firstRefusal ??= { ...refusal, planned }
      if (!refusal.otherChannelAllowed || planned.candidates.length === 1)
        return { kind: 'refused', ...firstRefusal }
      excluded.push(planned.channel)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // The fault of a second channel is not reported: the sender did not name that channel.
      return {
        kind: 'refused',
        ...(firstRefusal ?? { problem: error, otherChannelAllowed: false, refusedBy: null, planned }),
      }
    }
  }
}

/**
 * All checks of a planned send that need a query or the provider, the cheapest first.
 * Null if none refuses it; a failover makes them for its new channel, too.
 */
export function vetSend(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> | null {
  // Most sends need no check, and then no promise is created.
  return CHECKS.some(check => check.applies(planned, deps)) ? runChecks(planned, deps) : null
}

async function runChecks(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> {
  for (const { applies, check } of CHECKS) {
    const refusal = applies(planned, deps) ? await check(planned, deps) : null
    if (refusal) return refusal
  }
  return null
}

const CHECKS: readonly {
  applies(planned: Planned, deps: ResolveDeps): boolean
  check(planned: Planned, deps: ResolveDeps): Promise<Refusal | null>
}[] = [
  { applies: planned => planned.messageType === 'marketing', check: checkSuppression },
  { applies: planned => planned.needsWindow, check: checkWindow },
  // If the provider cannot check, the submit shows it.
  { applies: (planned, deps) => deps.checksRecipient(planned), check: checkReachable },
]

/** Refuses marketing to a recipient who opted out. No other channel is tried, which would ignore the opt-out. */
async function checkSuppression(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> {
  const how = await findSuppression(planned, deps.suppressedOn)
  if (how === null) return null
  return { problem: recipientSuppressed(planned.channel, how), otherChannelAllowed: false, refusedBy: null }
}

/** Refuses free text on the official chat app outside the 24-hour window. */
async function checkWindow(planned: Planned, { clock, windowOpen }: ResolveDeps): Promise<Refusal | null> {
  if (await windowOpen(planned, planned.scheduledAt ?? clock.now())) return null
  const problem = invalid(
    'template',
    'is required, since free text is only allowed within 24 hours of a message from the recipient',
  )
  return { problem, otherChannelAllowed: true, refusedBy: null }
}

/** Refuses a recipient that the provider does not reach. */
async function checkReachable(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> {
  if ((await deps.reaches(planned)) !== false) return null
  return { problem: notRegistered(), otherChannelAllowed: true, refusedBy: planned.provider }
}
