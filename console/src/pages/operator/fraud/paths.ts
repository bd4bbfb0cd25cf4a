export const FRAUD = '/api/admin/fraud'
