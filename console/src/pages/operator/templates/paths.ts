export const PLATFORM_TEMPLATES = '/api/admin/templates'
