const formats = new Map<string, Intl.NumberFormat>()
/** The most decimals of an amount in the API. */
const MAX_DIGITS = 6

/** An amount of the API, in units of its currency, with all of its digits. */
export function formatMoney(amount: number, currency: string): string {
  return formatOf(currency, MAX_DIGITS).format(amount)
}

/** A sum or a balance, rounded as on a bill; amounts below one unit keep their digits. */
export function formatSum(amount: number, currency: string): string {
  return formatOf(currency, Math.abs(amount) < 1 ? MAX_DIGITS : null).format(amount)
}

/** In few digits, as on the axis of a chart. */
export function formatBriefly(amount: number, currency: string): string {
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    notation: 'compact',
    maximumSignificantDigits: 3,
  }).format(amount)
}

/** With at least the currency's usual decimals: three for a dinar, none for a yen. */
function formatOf(currency: string, mostDigits: number | null): Intl.NumberFormat {
  const key = `${currency} ${mostDigits}`
  const known = formats.get(key)
  if (known) return known
  const made = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    ...(mostDigits !== null && { maximumFractionDigits: mostDigits }),
  })
  formats.set(key, made)
  return made
}

/** The same text, but a cell that wraps on a phone may put the currency on a line of its own. */
export function breakable(money: string): string {
  return money.replaceAll('\u00a0', ' ')
}

export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="ph-num">{formatMoney(amount, currency)}</span>
}
