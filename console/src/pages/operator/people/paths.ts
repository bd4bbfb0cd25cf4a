export const PEOPLE = '/api/admin/members'
