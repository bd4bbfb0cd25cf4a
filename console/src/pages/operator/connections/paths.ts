export const CONNECTIONS = '/api/admin/connections'
/** The API's largest page; far more connections than there are. */
export const MAX_CONNECTIONS = 500
export const POLL_EVERY_MS = 5_000
