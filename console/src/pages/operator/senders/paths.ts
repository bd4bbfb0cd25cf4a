export const SENDERS = '/api/admin/sms-senders'
