export const POLICIES = '/api/admin/policies'
