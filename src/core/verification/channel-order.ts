import type { Channel } from '../../contract/enums.ts'
import type { ChannelEvidence, ChannelOrder } from '../../contract/verification.ts'

/** How first codes over one channel to one country fared: sums that fade, as of now. */
export type ChannelStat = {
  tried: number
  verified: number
  delivered: number
  /** In sum, over those that were delivered. */
  deliverySeconds: number
}

/** What is known of channels to one country: by the account itself, and by all accounts together. */
export type ChannelKnowledge = {
  own: ReadonlyMap<Channel, ChannelStat>
  everybody: ReadonlyMap<Channel, ChannelStat>
}

const NOTHING_TRIED: ChannelStat = { tried: 0, verified: 0, delivered: 0, deliverySeconds: 0 }

/** Before anything is known: 14 of 20 codes are confirmed, and one takes ten seconds. */
const EXPECTED: ChannelStat = { tried: 20, verified: 14, delivered: 5, deliverySeconds: 50 }
/** What all accounts know weighs as much as so many codes, and receipts, of the account itself. */
const EVERYBODY_WEIGHS = { codes: 30, receipts: 10 }
/** A channel of which fewer codes are known keeps its place. */
const ENOUGH_CODES = 30
/** One that is better by less than this stays behind: no order flutters. */
const LEAST_GAIN = 0.05
/** A code that takes so long is worth half: who waits gives up, or asks again. */
const HALVED_AFTER_SECONDS = 300
/** What is known of a channel by so many codes needs no trials. */
const TRIED_ENOUGH = 200

/**
 * The order of channels by how codes fare over them: the policy's order, in which a
 * channel passes the one before it where enough is known of both and it is clearly
 * better. Pure.
 */
export function learnedOrder(
  channels: readonly Channel[],
  knowledge: ChannelKnowledge,
): Pick<ChannelOrder, 'by' | 'channels'> {
  const evidence = channels.map(channel => evidenceOf(channel, knowledge))
  const ordered: ChannelEvidence[] = []
  for (const each of evidence) {
    let at = ordered.length
    while (at > 0 && passes(each, ordered[at - 1]!)) at--
    ordered.splice(at, 0, each)
  }
  const known = evidence.filter(isKnown).length
  return { by: known > 1 ? 'learned' : 'policy', channels: ordered }
}

/**
 * The order with a channel in front of which too little is known to judge it, where there
 * is one; else null. Of several the one that is known least. Pure.
 */
export function trialOrder({ channels }: Pick<ChannelOrder, 'channels'>): ChannelEvidence[] | null {
  const behind = channels.slice(1).filter(({ codes }) => codes < TRIED_ENOUGH)
  const least = behind.toSorted((one, other) => one.codes - other.codes)[0]
  return least ? [least, ...channels.filter(each => each !== least)] : null
}

/** What an account has seen itself; the less that is, the nearer to what all accounts have, and that to what is expected of any. */
function evidenceOf(channel: Channel, { own, everybody }: ChannelKnowledge): ChannelEvidence {
  const mine = own.get(channel) ?? NOTHING_TRIED
  const all = everybody.get(channel) ?? NOTHING_TRIED
  const { codes, receipts } = EVERYBODY_WEIGHS
  const usual = (all.verified + EXPECTED.verified) / (all.tried + EXPECTED.tried)
  const usualSeconds = (all.deliverySeconds + EXPECTED.deliverySeconds) / (all.delivered + EXPECTED.delivered)
  return {
    channel,
    codes: Math.round(mine.tried + Math.min(all.tried, codes)),
    conversion: rounded((mine.verified + codes * usual) / (mine.tried + codes)),
    deliverySeconds: rounded((mine.deliverySeconds + receipts * usualSeconds) / (mine.delivered + receipts)),
  }
}

function passes(one: ChannelEvidence, other: ChannelEvidence): boolean {
  return isKnown(one) && isKnown(other) && worthOf(one) > worthOf(other) * (1 + LEAST_GAIN)
}

function isKnown({ codes }: ChannelEvidence): boolean {
  return codes >= ENOUGH_CODES
}

function worthOf({ conversion, deliverySeconds }: ChannelEvidence): number {
  return conversion * 0.5 ** (deliverySeconds / HALVED_AFTER_SECONDS)
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
