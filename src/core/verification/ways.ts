import type { Caller } from '../../contract/caller.ts'
import type { Channel, VerificationChannel } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { ChannelOrder } from '../../contract/verification.ts'
import type { Breach, Guard, GuardedSend } from '../fraud/guard.ts'
import type { Told } from '../messages/first-word.ts'
import type { Prepared } from '../messages/prepare.ts'
import { type ResolveDeps, resolve } from '../messages/resolve.ts'
import { channelsOf } from '../messages/template-find.ts'
import { reaches } from '../routing/recipient.ts'
import type { TemplateSnapshot } from '../templates/snapshot.ts'
import { isUsable } from '../templates/transitions.ts'
import { type Carried, isCarried, type Ways } from './carry.ts'
import type { VerificationId } from './codes.ts'
import type { Learned } from './learned.ts'
import { noMobile, type Wanted } from './request.ts'

export type WaysDeps = ResolveDeps & { learned: Pick<Learned, 'order'> }

/** Why none is left, and whose own word that is. */
export type NoWay = { problem: Problem; saidBy: string | null }

/**
 * Routes and prices the messages that carry a code, one per channel that is wanted,
 * each as an ordinary send of a code. A channel that cannot carry it gives way to
 * the others; where none can, the first one's refusal is told.
 */
export async function findWays(
  wanted: Wanted,
  code: string,
  caller: Caller,
  deps: WaysDeps,
): Promise<Ways | NoWay> {
  const template = caller.account.verification.templateId === null ? null : await findTemplate(caller, deps)
  const learning = learnsOrder(wanted, caller) ? createOrdering(wanted, caller, deps.learned) : null
  const ways: Prepared[] = []
  let refused: NoWay | null = null
  for (const channel of wanted.channels) {
    const body = bodyFor(wanted, channel, code, template)
    const resolved = await resolve(body, caller, learning ? { ...deps, reorder: learning.reorder } : deps)
    if (resolved.kind === 'prepared') ways.push(resolved.prepared)
    else refused ??= resolved
  }
  const [first, ...others] = ways
  if (first) return { first, others, order: learning?.order() ?? null }
  return wanted.deaf && isRouteless(refused!)
    ? { problem: noMobile(wanted.recipient), saidBy: null }
    : refused!
}

/** Where the choice is ours, and the account wants it learned. */
function learnsOrder({ channels, recipient }: Wanted, { account }: Caller): boolean {
  return (
    account.verification.channelOrder === 'learned' &&
    recipient.kind === 'phone' &&
    recipient.country !== null &&
    channels[0] === 'auto'
  )
}

/** Orders channels by what was learned, and tells how it did so last. */
function createOrdering({ recipient }: Wanted, { account }: Caller, learned: WaysDeps['learned']) {
  const { country } = recipient as Extract<Wanted['recipient'], { kind: 'phone' }>
  let order: ChannelOrder | null = null
  return {
    order: () => order,
    reorder(channels: readonly Channel[]): Channel[] {
      order = learned.order(account, country!, channels)
      return order.channels.map(each => each.channel)
    },
  }
}

function isRouteless({ problem }: NoWay): boolean {
  return problem.details?.some(({ path }) => path === 'channel') ?? false
}

/** The account's own words for codes; null where it chose none, or they may not be used at the moment. */
async function findTemplate({ account }: Caller, deps: ResolveDeps): Promise<TemplateSnapshot | null> {
  const { templateId } = account.verification
  if (templateId === null) return null
  const template = (await deps.world({ account })).templates.byId.get(templateId)
  return template && isUsable(template.status) && template.compiled.places === 1 ? template : null
}

function bodyFor(
  { recipient, asked }: Wanted,
  channel: VerificationChannel | 'auto',
  code: string,
  template: TemplateSnapshot | null,
): SingleSendBody {
  const carried = template !== null && carries(template, channel, recipient)
  return {
    to: recipient.address,
    channel,
    messageType: 'otp',
    content: { otpCode: code },
    ...asked,
    ...(carried && { template: { id: template.id, variablesIndexed: [code] } }),
  }
}

function carries(
  template: TemplateSnapshot,
  channel: VerificationChannel | 'auto',
  recipient: Wanted['recipient'],
): boolean {
  const own = channelsOf(template)
  return channel === 'auto' ? own.some(each => reaches(each, recipient)) : own.includes(channel)
}

/** The facts that the guard judges by, of all messages together. */
export function guardedSend(
  { recipient, clientIp }: Wanted,
  { first, others }: Ways,
  resend: boolean,
  nowMs: number,
): GuardedSend {
  return {
    accountId: first.accountId,
    mode: first.mode,
    recipient: first.recipient,
    country: first.country,
    phoneType: recipient.phoneType,
    channel: first.channel,
    clientIp,
    amount: others.reduce((sum, way) => sum + way.amount, first.amount),
    currency: first.currency,
    resend,
    nowMs,
  }
}

/** Refuses what the guard blocked, and has it listed. */
export async function refuseBlocked(guard: Guard, send: GuardedSend, breach: Breach): Promise<Problem> {
  await guard.blocked(send, breach)
  return new Problem('RATE_LIMITED', undefined, { retryAfterSeconds: breach.retryAfterMs / 1_000 })
}

/** What became of a code that was accepted. */
export type Heard = { told: readonly Told[] }

/** There was no turn for it (fraud/guard.ts). */
export type Late = { kind: 'blocked'; breach: Breach }

/** Carries what the guard let pass, and tells it whether anything came of it: what no channel took is no code. */
export async function carryGuarded<Outcome extends { kind: string }>(
  guard: Guard,
  send: GuardedSend,
  id: VerificationId,
  work: () => Promise<Carried | Outcome>,
): Promise<Heard | Late | Exclude<Outcome, { kind: 'late' }>> {
  let underWay = false
  try {
    const outcome = await work()
    if (!isCarried(outcome)) {
      if (outcome.kind === 'late') return { kind: 'blocked', breach: await guard.late(send) }
      return outcome as Exclude<Outcome, { kind: 'late' }>
    }
    guard.stored(send, outcome.watched)
    // Should nobody be able to say what became of it, it may have gone out.
    underWay = true
    const told = await outcome.told()
    underWay = told.some(({ answer }) => answer !== 'failed')
    return { told }
  } finally {
    if (underWay) guard.sent(send, id)
    else guard.dropped(send)
  }
}

export function isHeard<Outcome>(outcome: Heard | Outcome): outcome is Heard {
  return typeof outcome === 'object' && outcome !== null && 'told' in outcome
}
