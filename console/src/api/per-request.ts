type PerRequest = { of: string; valueNow(): string }

/**
 * A value of a query that is computed for each request, such as the start of the last hour. The cache knows it by `of`:
 * the passing of time is no other query, which would begin anew. Its type is that of the value.
 */
export function perRequest(of: string, valueNow: () => string): string {
  return { of, valueNow } satisfies PerRequest as unknown as string
}

/** The query with the values of this moment. */
export function queryNow(query: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, isPerRequest(value) ? value.valueNow() : value]),
  )
}

function isPerRequest(value: unknown): value is PerRequest {
  return typeof value === 'object' && value !== null && 'valueNow' in value
}
