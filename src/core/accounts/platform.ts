import { type AccountId, fromUuid } from '../../lib/ids.ts'

export const PLATFORM_UUID = '00000000-0000-0000-0000-000000000000'

/** The owner of connections, senders and templates that all accounts may use. */
export const PLATFORM: AccountId = fromUuid('acc', PLATFORM_UUID)
