export const BOTS = '/api/v2/botapp-bots'
