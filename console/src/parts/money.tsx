const formats = new Map<string, Intl.NumberFormat>()

/** An amount of the wire, in units of its currency, with as many digits as it has. */
export function formatMoney(amount: number, currency: string): string {
  let format = formats.get(currency)
  if (!format) {
    format = new Intl.NumberFormat(undefined, {
      style: 'currency',
      currency,
      minimumFractionDigits: 2,
      maximumFractionDigits: 6,
    })
    formats.set(currency, format)
  }
  return format.format(amount)
}

export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="ph-num">{formatMoney(amount, currency)}</span>
}
