export const SENDERS = '/api/admin/sms-senders'

/** Somebody else may decide meanwhile, and accounts ask at any time. */
export const LOOK_EVERY_MS = 10_000
