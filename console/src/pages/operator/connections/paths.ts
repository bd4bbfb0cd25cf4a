export const CONNECTIONS = '/api/admin/connections'
/** One answer's most; nobody has so many. */
export const MOST_CONNECTIONS = 500
export const LOOK_EVERY_MS = 5_000
