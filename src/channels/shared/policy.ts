import { MESSAGE_TYPES } from '../../contract/enums.ts'
import type { ProviderPolicy } from '../provider.ts'

/** The policy of a provider that sends plain text of every message type, and has no templates. */
export const PLAIN_TEXT = {
  allowedTypes: MESSAGE_TYPES,
  sendModeByType: {
    otp: 'plain_text',
    utility: 'plain_text',
    marketing: 'plain_text',
    free_text: 'plain_text',
  },
  requiresApprovedTemplate: false,
} as const satisfies Partial<ProviderPolicy>
