export const PRICES = '/api/admin/prices'
