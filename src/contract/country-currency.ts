import { isSupportedCountry } from 'libphonenumber-js/max'
import { createFaults, type Faults } from './faults.ts'

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** Adds a fault at `path` unless it is an ISO 3166-1 alpha-2 code. */
export function checkCountry(country: string, path: string, faults: Faults): void {
  if (!isSupportedCountry(country)) {
    faults.add(path, 'must be an ISO 3166-1 alpha-2 country code, such as US')
  }
}

/** Checks a country of a query. Throws a VALIDATION_ERROR that names `path`. */
export function readCountry(country: string, path: string): string {
  const faults = createFaults()
  checkCountry(country, path, faults)
  faults.check()
  return country
}

/** Adds a fault at `path` unless it is an ISO 4217 code. */
export function checkCurrency(currency: string, path: string, faults: Faults): void {
  if (!CURRENCIES.has(currency)) faults.add(path, 'must be an ISO 4217 currency code, such as USD')
}
