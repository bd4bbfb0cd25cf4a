export const ACCOUNTS = '/api/admin/accounts'
