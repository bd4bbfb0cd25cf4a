import { type AccountId, fromUuid } from '../../lib/ids.ts'

export const PLATFORM_UUID = '00000000-0000-0000-0000-000000000000'

/** The owner of what belongs to nobody in particular: connections, senders and templates for all. */
export const PLATFORM: AccountId = fromUuid('acc', PLATFORM_UUID)
