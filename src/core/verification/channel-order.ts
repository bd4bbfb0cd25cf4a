import type { Channel } from '../../contract/enums.ts'
import type { ChannelEvidence, ChannelOrder } from '../../contract/verification.ts'

/** The results of first codes over one channel to one country: sums that fade, as of now. */
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
  allAccounts: ReadonlyMap<Channel, ChannelStat>
}

const NOTHING_TRIED: ChannelStat = { tried: 0, verified: 0, delivered: 0, deliverySeconds: 0 }

/** Before anything is known: 14 of 20 codes are confirmed, and one takes ten seconds. */
const EXPECTED: ChannelStat = { tried: 20, verified: 14, delivered: 5, deliverySeconds: 50 }
/** The data of all accounts weighs as much as this many codes, and receipts, of the account itself. */
const ALL_ACCOUNTS_WEIGHT = { codes: 30, receipts: 10 }
/** A channel with fewer codes keeps its place. */
const ENOUGH_CODES = 30
/** A channel that is better by less than this is not moved, so that the order is stable. */
const MIN_GAIN = 0.05
/** A code that takes this long counts half: its recipient gives up, or asks again. */
const HALVED_AFTER_SECONDS = 300
/** A channel with this many codes needs no trials. */
const TRIED_ENOUGH = 200

/**
 * The order of channels by the results of their codes: the policy's order, in which a
 * channel moves ahead of the one before it if there is enough data on both and it is
 * clearly better. Pure.
 */
export function learnedOrder(
  channels: readonly Channel[],
  knowledge: ChannelKnowledge,
): Pick<ChannelOrder, 'by' | 'channels'> {
  const evidence = channels.map(channel => evidenceOf(channel, knowledge))
  const ordered: ChannelEvidence[] = []
  for (const each of evidence) {
    let at = ordered.length
    while (at > 0 && isBetter(each, ordered[at - 1]!)) at--
    ordered.splice(at, 0, each)
  }
  const known = evidence.filter(isKnown).length
  return { by: known > 1 ? 'learned' : 'policy', channels: ordered }
}

/**
 * The order with a channel in front that has too little data to be judged; null if there
 * is none. Of several the one with the least data. Pure.
 */
export function trialOrder({ channels }: Pick<ChannelOrder, 'channels'>): ChannelEvidence[] | null {
  const behind = channels.slice(1).filter(({ codes }) => codes < TRIED_ENOUGH)
  const least = behind.toSorted((one, other) => one.codes - other.codes)[0]
  return least ? [least, ...channels.filter(each => each !== least)] : null
}

/** Blends the account's own data with that of all accounts, and that with the expected values: the less data, the more the next level weighs. */
function evidenceOf(channel: Channel, { own, allAccounts }: ChannelKnowledge): ChannelEvidence {
  const mine = own.get(channel) ?? NOTHING_TRIED
  const all = allAccounts.get(channel) ?? NOTHING_TRIED
  const { codes, receipts } = ALL_ACCOUNTS_WEIGHT
  const usual = (all.verified + EXPECTED.verified) / (all.tried + EXPECTED.tried)
  const usualSeconds = (all.deliverySeconds + EXPECTED.deliverySeconds) / (all.delivered + EXPECTED.delivered)
  return {
    channel,
    codes: Math.round(mine.tried + Math.min(all.tried, codes)),
    conversion: rounded((mine.verified + codes * usual) / (mine.tried + codes)),
    deliverySeconds: rounded((mine.deliverySeconds + receipts * usualSeconds) / (mine.delivered + receipts)),
  }
}

function isBetter(one: ChannelEvidence, other: ChannelEvidence): boolean {
  return isKnown(one) && isKnown(other) && worthOf(one) > worthOf(other) * (1 + MIN_GAIN)
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
