export const BOTS = '/api/v2/botapp-bots'
/** The API's largest page; far more bots than any account has. */
export const MAX_BOTS = 500
