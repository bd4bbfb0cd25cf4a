import type { Caller } from '../../contract/caller.ts'
import type { VerificationChannel } from '../../contract/enums.ts'
import { Problem } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { Guard, GuardedSend } from '../fraud/guard.ts'
import type { Prepared } from '../messages/prepare.ts'
import { type ResolveDeps, resolve } from '../messages/resolve.ts'
import { channelsOf } from '../messages/template-find.ts'
import { reaches } from '../routing/recipient.ts'
import type { TemplateSnapshot } from '../templates/snapshot.ts'
import { isUsable } from '../templates/transitions.ts'
import { type Carried, isCarried, type Ways } from './carry.ts'
import type { VerificationId } from './codes.ts'
import { noMobile, type Wanted } from './request.ts'

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
  deps: ResolveDeps,
): Promise<Ways | NoWay> {
  const template = await findTemplate(caller, deps)
  const ways: Prepared[] = []
  let refused: NoWay | null = null
  for (const channel of wanted.channels) {
    const resolved = await resolve(bodyFor(wanted, channel, code, template), caller, deps)
    if (resolved.kind === 'prepared') ways.push(resolved.prepared)
    else refused ??= resolved
  }
  const [first, ...others] = ways
  if (first) return { first, others }
  return wanted.deaf && isRouteless(refused!)
    ? { problem: noMobile(wanted.recipient), saidBy: null }
    : refused!
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

/** The guard's refusal of a send; null where it lets it pass. */
export async function askGuard(guard: Guard, send: GuardedSend): Promise<Problem | null> {
  const verdict = await guard.judge(send)
  if (verdict.verdict === 'pass') return null
  return new Problem('RATE_LIMITED', undefined, { retryAfterSeconds: verdict.retryAfterMs / 1_000 })
}

/** Carries what the guard let pass, and tells it whether anything came of it. */
export async function carryGuarded<Outcome>(
  guard: Guard,
  send: GuardedSend,
  id: VerificationId,
  work: () => Promise<Carried | Outcome>,
): Promise<Carried | Outcome> {
  let carried = false
  try {
    const outcome = await work()
    carried = isCarried(outcome)
    return outcome
  } finally {
    if (carried) guard.sent(send, id)
    else guard.dropped(send)
  }
}
