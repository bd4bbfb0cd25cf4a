export const SENDERS = '/api/admin/sms-senders'

/** Another operator may decide meanwhile, and accounts may request names at any time. */
export const POLL_EVERY_MS = 10_000
