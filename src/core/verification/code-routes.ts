import type { Caller } from '../../contract/caller.ts'
import type { Channel, VerificationChannel } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import type { ChannelOrder } from '../../contract/verification.ts'
import type { Breach, Guard, GuardedSend } from '../fraud/guard.ts'
import type { Prepared } from '../messages/prepare.ts'
import { type ResolveDeps, resolveSend } from '../messages/resolve.ts'
import { channelsOf } from '../messages/template-find.ts'
import { reaches } from '../routing/recipient.ts'
import type { TemplateSnapshot } from '../templates/snapshot.ts'
import { isCodeOnly } from '../templates/spec.ts'
import { isUsable } from '../templates/transitions.ts'
import type { RoutedCode } from './accept-code.ts'
import type { LearnedOrders } from './learned.ts'
import { type CodeRequest, notMobile } from './request.ts'

export type RouteCodeDeps = ResolveDeps & { learned: Pick<LearnedOrders, 'order'> }

/** Why no channel can carry the code, and the provider whose own refusal that is, if any. */
export type Unroutable = { problem: Problem; refusedBy: string | null }

/**
 * Routes and prices the messages that carry a code, one per requested channel,
 * each as an ordinary send of a code. A channel that cannot carry it is left
 * out; where none can, the first one's refusal is returned.
 */
export async function routeCode(
  codeRequest: CodeRequest,
  code: string,
  caller: Caller,
  deps: RouteCodeDeps,
): Promise<RoutedCode | Unroutable> {
  const template = caller.account.verification.templateId === null ? null : await findTemplate(caller, deps)
  const learning = learnsOrder(codeRequest, caller) ? createOrdering(codeRequest, caller, deps.learned) : null
  const resolving = learning ? { ...deps, reorder: learning.reorder } : deps
  let first: Prepared | null = null
  let others = NONE
  let refused: Unroutable | null = null
  for (const channel of codeRequest.channels) {
    const resolved = await resolveSend(bodyFor(codeRequest, channel, code, template), caller, resolving)
    if (resolved.kind === 'refused') refused ??= resolved
    else if (first) others = [...others, resolved.prepared]
    else first = resolved.prepared
  }
  if (first) return { first, others, order: learning?.order() ?? null }
  return codeRequest.cannotReceiveSms && isRouteless(refused!)
    ? { problem: notMobile(codeRequest.recipient), refusedBy: null }
    : inOwnFields(refused!)
}

/** Where only templates may be sent, a send asks for its `template`; a request for a code has no such field. */
function inOwnFields(refused: Unroutable): Unroutable {
  const asksForTemplate = refused.problem.details?.some(({ path }) => path === 'template') ?? false
  return asksForTemplate ? { ...refused, problem: needsTemplate() } : refused
}

function needsTemplate(): Problem {
  return invalid(
    'channel',
    'needs an approved template of subType otp, as the default of the account or in its verification.templateId, except within 24 hours of a message from the recipient',
  )
}

/** Most codes are sent over one channel. */
const NONE: readonly Prepared[] = []

/** Whether the account has the learned order enabled, and the caller left the channel open. */
function learnsOrder({ channels, recipient }: CodeRequest, { account }: Caller): boolean {
  return (
    account.verification.channelOrder === 'learned' &&
    recipient.kind === 'phone' &&
    recipient.country !== null &&
    channels[0] === 'auto'
  )
}

/** Orders channels by their learned results, and remembers how it did so last. */
function createOrdering({ recipient }: CodeRequest, { account }: Caller, learned: RouteCodeDeps['learned']) {
  const { country } = recipient as Extract<CodeRequest['recipient'], { kind: 'phone' }>
  let order: ChannelOrder | null = null
  return {
    order: () => order,
    reorder(channels: readonly Channel[]): Channel[] {
      order = learned.order(account, country!, channels)
      return order.channels.map(each => each.channel)
    },
  }
}

function isRouteless({ problem }: Unroutable): boolean {
  return problem.details?.some(({ path }) => path === 'channel') ?? false
}

/** The account's template for codes; null where it chose none, or it cannot be used at the moment. */
async function findTemplate({ account }: Caller, deps: ResolveDeps): Promise<TemplateSnapshot | null> {
  const { templateId } = account.verification
  if (templateId === null) return null
  const template = (await deps.world({ account })).templates.byId.get(templateId)
  return template && isUsable(template.status) && isCodeOnly(template) ? template : null
}

function bodyFor(
  { recipient, requestedSender }: CodeRequest,
  channel: VerificationChannel | 'auto',
  code: string,
  template: TemplateSnapshot | null,
): SingleSendBody {
  const usesTemplate = template !== null && templateFits(template, channel, recipient)
  return {
    to: recipient.address,
    channel,
    messageType: 'otp',
    content: { otpCode: code },
    ...requestedSender,
    ...(usesTemplate && { template: { id: template.id, variablesIndexed: [code] } }),
  }
}

function templateFits(
  template: TemplateSnapshot,
  channel: VerificationChannel | 'auto',
  recipient: CodeRequest['recipient'],
): boolean {
  const own = channelsOf(template)
  return channel === 'auto' ? own.some(each => reaches(each, recipient)) : own.includes(channel)
}

/** What the guard judges by, for all messages together. */
export function guardedSend(
  { recipient, clientIp }: CodeRequest,
  { first, others }: RoutedCode,
  nowMs: number,
): GuardedSend {
  return {
    accountId: first.accountId,
    mode: first.mode,
    recipient: first.recipient,
    country: first.country,
    phoneType: recipient.phoneType,
    channel: first.channel,
    simulated: [first, ...others].every(({ provider }) => provider === SANDBOX),
    clientIp,
    amount: others.reduce((sum, { amount }) => sum + amount, first.amount),
    currency: first.currency,
    nowMs,
  }
}

/** Makes the refusal of a send that the guard blocked, and records the block. */
export async function refuseBlocked(guard: Guard, send: GuardedSend, breach: Breach): Promise<Problem> {
  await guard.blocked(send, breach)
  return new Problem('RATE_LIMITED', undefined, { retryAfterSeconds: breach.retryAfterMs / 1_000 })
}
