import { countryName } from '../../parts/country-name.ts'

/** Where codes went to; e-mail addresses have no country. */
export function regionName(country: string | null): string {
  return country === null ? 'None (e-mail)' : countryName(country)
}
