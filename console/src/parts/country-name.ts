const regions = new Intl.DisplayNames(undefined, { type: 'region' })

/** `DE` is "Germany". */
export function countryName(country: string): string {
  try {
    return regions.of(country) ?? country
  } catch {
    return country
  }
}
