import { countryName } from '../../parts/country-name.ts'

/** The destination country of codes; e-mail addresses have none. */
export function regionName(country: string | null): string {
  return country === null ? 'None (e-mail)' : countryName(country)
}
