import type { PriceRow } from '../../../../../sdk/index.ts'
import { countryName } from '../../../parts/country-name.ts'

/** Where a price holds: a prefix, a country, or anywhere. */
export function DestinationText({ country, prefix }: Pick<PriceRow, 'country' | 'prefix'>) {
  if (prefix !== null) return <span className="ph-num">+{prefix}…</span>
  return <>{country === null || country === '*' ? 'Anywhere' : countryName(country)}</>
}
