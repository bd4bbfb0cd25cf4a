export const SUPPRESSIONS = '/api/v2/suppressions'
