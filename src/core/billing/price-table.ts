import type { Channel, MessageType } from '../../contract/enums.ts'

/** One line of the price list; `price` in micros for an SMS part or a message. */
export type Price = {
  channel: Channel
  /** ISO country, `*` for any; null where a prefix decides. */
  country: string | null
  /** First digits of an E.164 number, without the plus. */
  prefix: string | null
  messageType: MessageType | '*'
  price: number
  currency: string
}

export type PriceQuery = {
  channel: Channel
  /** Null for a recipient that is not a phone number, and for a number without a country. */
  country: string | null
  e164: string | null
  messageType: MessageType
  currency: string
}

export type PriceTable = {
  /**
   * The price in micros; null if there is none, so the destination has no route.
   * The most specific destination wins (longest prefix, then country, then any), and within it
   * the message's own type before `*`.
   */
  find(query: PriceQuery): number | null
}

/** Micros by message type or `*`. */
type ByType = Map<string, number>
type Destinations = {
  byPrefix: Map<string, ByType>
  /** The lengths that occur, the longest first: only these are looked up. */
  prefixLengths: number[]
  byCountry: Map<string, ByType>
}

/** A look-up costs some Map reads, whatever the length of the list. */
export function createPriceTable(prices: readonly Price[]): PriceTable {
  const byCurrency = new Map<string, Map<Channel, Destinations>>()
  for (const price of prices) add(destinationsOf(byCurrency, price), price)

  return {
    find({ channel, country, e164, messageType, currency }) {
      const destinations = byCurrency.get(currency)?.get(channel)
      if (!destinations) return null
      return (
        byPrefix(destinations, e164, messageType) ??
        (country === null ? null : ofType(destinations.byCountry.get(country), messageType)) ??
        ofType(destinations.byCountry.get('*'), messageType)
      )
    },
  }
}

function destinationsOf(byCurrency: Map<string, Map<Channel, Destinations>>, price: Price): Destinations {
  const byChannel = byCurrency.get(price.currency) ?? new Map<Channel, Destinations>()
  byCurrency.set(price.currency, byChannel)
  const known = byChannel.get(price.channel)
  if (known) return known
  const empty = { byPrefix: new Map(), prefixLengths: [], byCountry: new Map() }
  byChannel.set(price.channel, empty)
  return empty
}

function add(destinations: Destinations, { prefix, country, messageType, price }: Price): void {
  const places = prefix === null ? destinations.byCountry : destinations.byPrefix
  const place = prefix ?? country!
  const types = places.get(place) ?? new Map()
  places.set(place, types.set(messageType, price))
  if (prefix === null || destinations.prefixLengths.includes(prefix.length)) return
  destinations.prefixLengths.push(prefix.length)
  destinations.prefixLengths.sort((a, b) => b - a)
}

function byPrefix(destinations: Destinations, e164: string | null, messageType: MessageType): number | null {
  if (e164 === null) return null
  for (const length of destinations.prefixLengths) {
    const price = ofType(destinations.byPrefix.get(e164.slice(1, 1 + length)), messageType)
    if (price !== null) return price
  }
  return null
}

function ofType(types: ByType | undefined, messageType: MessageType): number | null {
  return types?.get(messageType) ?? types?.get('*') ?? null
}
