import type { Caller } from '../../contract/caller.ts'
import type { Channel } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConnectionId } from '../../lib/ids.ts'
import type { SuppressedOn } from '../consent/lookup.ts'
import { notRegistered } from './answers.ts'
import { type Planned, type PrepareDeps, type Prepared, plan, price, type World } from './prepare.ts'
import { recipientSuppressed, suppressionOf } from './suppressed.ts'

export type ResolveDeps = PrepareDeps & {
  clock: Clock
  /** With what the body names, where there is one. */
  world(caller: Pick<Caller, 'account'>, body?: SingleSendBody): World | Promise<World>
  /** Whether the provider can say, before a send, that a recipient cannot be reached. */
  checksRecipient(planned: Planned): boolean
  /** The provider's word on the recipient; null when it has none in time. */
  reaches(planned: Planned): Promise<boolean | null>
  suppressedOn: SuppressedOn
  /** Whether a recipient has written to a sender so lately that a free text may go to them at that time. */
  windowOpen(key: { connectionId: ConnectionId; recipient: string }, atMs: number): Promise<boolean>
}

/** What a body comes to. A refusal still tells how far it came, for an estimate. */
export type Resolved =
  | { kind: 'prepared'; prepared: Prepared }
  | ({ kind: 'refused'; planned: Planned | null } & Refusal)

/** Why a planned send must not go out. */
export type Refusal = {
  problem: Problem
  /** Another channel may still carry it. */
  elsewhere: boolean
  /** The provider whose own word this is. */
  saidBy: string | null
}

/**
 * From a valid body to a send that is ready to be accepted, or to its refusal:
 * the one way for sends, batches, estimates and bulk rows.
 *
 *   world   what the account has, from caches: whatever `plan` looks up belongs here
 *   plan    recipient, route, words, sender; pure (prepare.ts)
 *   vet     what must be asked elsewhere, of this very channel, before there is a price
 *   price   pure (prepare.ts)
 *
 * Where the caller left the channel to us, one that does not reach the recipient
 * gives way to the next candidate.
 */
export async function resolve(body: SingleSendBody, caller: Caller, deps: ResolveDeps): Promise<Resolved> {
  const world = await deps.world(caller, body)
  const barred: Channel[] = []
  /** The first word against it: what the sender is told if nothing else carries it. */
  let first: (Refusal & { planned: Planned }) | null = null
  for (;;) {
    let planned: Planned | null = null
    try {
      planned = plan(body, caller, world, deps.clock.now(), deps, barred)
      const refusal = await vet(planned, deps)
      if (!refusal) return { kind: 'prepared', prepared: price(planned, world) }
      first ??= { ...refusal, planned }
      if (!refusal.elsewhere || planned.candidates.length === 1) return { kind: 'refused', ...first }
      barred.push(planned.channel)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // What is wrong with a second channel is not told: the sender did not ask for it.
      return { kind: 'refused', ...(first ?? { problem: error, elsewhere: false, saidBy: null, planned }) }
    }
  }
}

/**
 * Everything that is asked about a planned send before it is priced, the cheapest
 * first. Null when nothing speaks against it; a failover asks it of its new channel too.
 */
export function vet(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> | null {
  // Most sends need no check, and pay for no promise.
  return CHECKS.some(check => check.isDue(planned, deps)) ? ask(planned, deps) : null
}

async function ask(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> {
  for (const { isDue, check } of CHECKS) {
    const refusal = isDue(planned, deps) ? await check(planned, deps) : null
    if (refusal) return refusal
  }
  return null
}

const CHECKS: readonly {
  isDue(planned: Planned, deps: ResolveDeps): boolean
  check(planned: Planned, deps: ResolveDeps): Promise<Refusal | null>
}[] = [
  { isDue: planned => planned.messageType === 'marketing', check: checkWanted },
  { isDue: planned => planned.needsWindow, check: checkWindow },
  {
    // Not of what goes out later, nor where the provider cannot say: there the submit tells.
    isDue: (planned, deps) => planned.scheduledAt === null && deps.checksRecipient(planned),
    check: checkRegistered,
  },
]

/** Marketing to somebody who opted out. No other channel is tried: that would get round their wish. */
async function checkWanted(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> {
  const how = await suppressionOf(planned, deps.suppressedOn)
  if (how === null) return null
  return { problem: recipientSuppressed(planned.channel, how), elsewhere: false, saidBy: null }
}

/** Free text on the official chat app, which is for whoever wrote within the last 24 hours. */
async function checkWindow(planned: Planned, { clock, windowOpen }: ResolveDeps): Promise<Refusal | null> {
  if (await windowOpen(planned, planned.scheduledAt ?? clock.now())) return null
  const problem = invalid(
    'template',
    'is required, since free text is only allowed within 24 hours of a message from the recipient',
  )
  return { problem, elsewhere: true, saidBy: null }
}

/** The provider's own word on the recipient. */
async function checkRegistered(planned: Planned, deps: ResolveDeps): Promise<Refusal | null> {
  if ((await deps.reaches(planned)) !== false) return null
  return { problem: notRegistered(), elsewhere: true, saidBy: planned.provider }
}
