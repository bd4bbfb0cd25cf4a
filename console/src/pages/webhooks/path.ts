export const WEBHOOKS = '/api/v2/webhooks'
