export const SESSIONS = '/api/v2/chatapp-sessions'
