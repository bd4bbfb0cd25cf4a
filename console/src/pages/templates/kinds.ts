import type { TemplateProvider, TemplateView } from '../../../../sdk/index.ts'

/** The kind of a template for people: the API's category and provider together. */
export type Kind = 'sms' | 'official' | 'chat' | 'email'

export const KINDS: readonly { value: Kind; label: string; text: string }[] = [
  { value: 'sms', label: 'SMS', text: 'Ready at once. Priced per part.' },
  { value: 'official', label: 'WhatsApp Business', text: 'Needs approval before it can be sent.' },
  { value: 'chat', label: 'Session or bot', text: 'For your own chats. Ready at once.' },
  { value: 'email', label: 'E-mail', text: 'Text or HTML. Ready at once.' },
]

export function kindOf({ category, provider }: { category: string; provider: TemplateProvider }): Kind {
  if (provider === 'official_provider') return 'official'
  return category === 'sms' || category === 'email' ? category : 'chat'
}

export function kindName(template: Pick<TemplateView, 'category' | 'provider'>): string {
  return KINDS.find(({ value }) => value === kindOf(template))!.label
}

export const SUB_TYPES = [
  { value: 'utility', label: 'Utility' },
  { value: 'otp', label: 'OTP' },
  { value: 'marketing', label: 'Marketing' },
  { value: 'free', label: 'Free' },
] as const

export function subTypeName(subType: TemplateView['subType']): string {
  return SUB_TYPES.find(({ value }) => value === subType)!.label
}
