export const SMS_SENDERS = '/api/v2/sms-senders'
