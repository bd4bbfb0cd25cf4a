export const BULK = '/api/v2/messages/bulk'
