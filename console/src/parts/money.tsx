const formats = new Map<string, Intl.NumberFormat>()
/** As many as an amount of the wire can have. */
const MOST_DIGITS = 6

/** An amount of the wire, in units of its currency, with as many digits as it has. */
export function formatMoney(amount: number, currency: string): string {
  return formatOf(currency, MOST_DIGITS).format(amount)
}

/** A sum or a balance, as on a bill; what is less than one unit keeps its digits. */
export function formatSum(amount: number, currency: string): string {
  return formatOf(currency, Math.abs(amount) < 1 ? MOST_DIGITS : null).format(amount)
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

/** With no fewer digits than the currency has: a dinar has three, a yen none. */
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

export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="ph-num">{formatMoney(amount, currency)}</span>
}
