export const BOTS = '/api/v2/botapp-bots'
/** One answer's most; nobody has so many. */
export const MOST_BOTS = 500
