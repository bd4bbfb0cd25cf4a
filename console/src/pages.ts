import {
  BadgeCheck,
  Ban,
  Bot,
  FlaskConical,
  Gauge,
  Inbox,
  KeyRound,
  LayoutTemplate,
  type LucideIcon,
  MessagesSquare,
  Rocket,
  Rows3,
  ScrollText,
  SendHorizontal,
  Settings2,
  ShieldCheck,
  ShieldUser,
  Signature,
  Smartphone,
  Users,
  Wallet,
  Webhook,
} from 'lucide-react'
import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import type { Permission } from '../../sdk/index.ts'
import type { Need } from './session/session.ts'

/** One screen. The navigation, the palette, the routes and the tests are drawn from this table. */
export type Page = {
  /** Where it is; its first step must be none of the server's own: api, docs, media, webhooks, metrics. */
  path: string
  title: string
  section: Section
  icon: LucideIcon
  need: Need
  /** What it asks the API for needs this. */
  permission?: Permission
  component: LazyExoticComponent<ComponentType<Record<string, string | undefined>>>
  /** Where its path has parameters: they are its props. */
  pattern?: string
  /** Other words by which the palette finds it. */
  words?: string
  /** After `g`. */
  shortcut?: string
  /** Reached by the palette and by links alone. */
  hidden?: true
}

export const SECTIONS = ['', 'Messages', 'Channels', 'Developers', 'Account', 'Operator'] as const
export type Section = (typeof SECTIONS)[number]

/** In the order in which the navigation shows them. */
export const PAGES: readonly Page[] = [
  {
    path: '/',
    title: 'Overview',
    section: '',
    icon: Gauge,
    need: 'member',
    component: lazy(() => import('./pages/overview/overview.tsx')),
    words: 'home dashboard statistics charts',
    shortcut: 'o',
  },
  {
    path: '/welcome',
    title: 'Get started',
    section: '',
    icon: Rocket,
    need: 'member',
    permission: 'api_keys:write',
    component: lazy(() => import('./pages/welcome/welcome.tsx')),
    words: 'onboarding first message curl typescript python',
  },
  {
    path: '/messages',
    title: 'Messages',
    section: 'Messages',
    icon: MessagesSquare,
    need: 'member',
    // The message that is open stands in the URL.
    pattern: '/messages/:messageId?',
    permission: 'messages:read',
    component: lazy(() => import('./pages/messages/messages.tsx')),
    words: 'explorer log timeline delivery status',
    shortcut: 'm',
  },
  {
    path: '/inbound',
    title: 'Inbound',
    section: 'Messages',
    icon: Inbox,
    need: 'member',
    permission: 'messages:read',
    pattern: '/inbound/:inboundId?',
    component: lazy(() => import('./pages/inbound/inbound.tsx')),
    words: 'received replies answers conversations incoming stop media',
    shortcut: 'i',
  },
  {
    path: '/send',
    title: 'Send',
    section: 'Messages',
    icon: SendHorizontal,
    need: 'member',
    permission: 'messages:create',
    component: lazy(() => import('./pages/send/send.tsx')),
    words: 'playground compose new message estimate price',
    shortcut: 's',
  },
  {
    path: '/sandbox',
    title: 'Sandbox inbox',
    section: 'Messages',
    icon: FlaskConical,
    need: 'member',
    component: lazy(() => import('./pages/sandbox/sandbox.tsx')),
    words: 'test messages codes otp received',
    shortcut: 'x',
  },
  {
    path: '/templates',
    title: 'Templates',
    section: 'Messages',
    icon: LayoutTemplate,
    need: 'member',
    // `new` is the editor.
    pattern: '/templates/:templateId?',
    component: lazy(() => import('./pages/templates/templates.tsx')),
    words: 'preview variables approval whatsapp buttons footer',
    shortcut: 't',
  },
  {
    path: '/bulk',
    title: 'Bulk',
    section: 'Messages',
    icon: Rows3,
    need: 'member',
    // `new` is the wizard.
    pattern: '/bulk/:jobId?',
    component: lazy(() => import('./pages/bulk/bulk.tsx')),
    words: 'csv excel xlsx upload file campaign jobs import rows',
    shortcut: 'b',
  },
  {
    path: '/verification',
    title: 'Verification',
    section: 'Messages',
    icon: ShieldCheck,
    need: 'member',
    pattern: '/verification/:tab?',
    component: lazy(() => import('./pages/verification/verification.tsx')),
    words: 'otp codes conversion statistics blocks fraud settings try two factor',
    shortcut: 'v',
  },
  {
    path: '/suppressions',
    title: 'Suppression list',
    section: 'Messages',
    icon: Ban,
    need: 'member',
    component: lazy(() => import('./pages/suppressions/suppressions.tsx')),
    words: 'stop opt out unsubscribe block list consent',
  },
  {
    path: '/sms-senders',
    title: 'SMS senders',
    section: 'Channels',
    icon: Signature,
    need: 'member',
    permission: 'messages:create',
    component: lazy(() => import('./pages/sms-senders/sms-senders.tsx')),
    words: 'sender name alphanumeric brand request review from',
  },
  {
    path: '/official-senders',
    title: 'Official senders',
    section: 'Channels',
    icon: BadgeCheck,
    need: 'member',
    component: lazy(() => import('./pages/official-senders/official-senders.tsx')),
    words: 'whatsapp business number quality limit tier',
  },
  {
    path: '/bots',
    title: 'Bots',
    section: 'Channels',
    icon: Bot,
    need: 'member',
    permission: 'messages:create',
    pattern: '/bots/:botId?',
    component: lazy(() => import('./pages/bots/bots.tsx')),
    words: 'telegram token subscribers start',
    shortcut: 'r',
  },
  {
    path: '/sessions',
    title: 'Web sessions',
    section: 'Channels',
    icon: Smartphone,
    need: 'member',
    permission: 'messages:create',
    pattern: '/sessions/:name?',
    component: lazy(() => import('./pages/sessions/sessions.tsx')),
    words: 'whatsapp qr pairing link phone device chats',
    shortcut: 'p',
  },
  {
    path: '/keys',
    title: 'API keys',
    section: 'Developers',
    icon: KeyRound,
    need: 'member',
    permission: 'api_keys:read',
    component: lazy(() => import('./pages/keys/keys.tsx')),
    words: 'token secret rotate revoke scopes',
    shortcut: 'k',
  },
  {
    // `/webhooks` itself is the server's own: providers call there.
    path: '/endpoints',
    title: 'Webhooks',
    section: 'Developers',
    icon: Webhook,
    need: 'member',
    pattern: '/endpoints/:webhookId?/:deliveryId?',
    component: lazy(() => import('./pages/webhooks/webhooks.tsx')),
    words: 'callbacks events deliveries payload replay secret endpoints',
    shortcut: 'w',
  },
  {
    path: '/wallet',
    title: 'Wallet',
    section: 'Account',
    icon: Wallet,
    need: 'member',
    component: lazy(() => import('./pages/wallet/wallet.tsx')),
    words: 'balance ledger money spent credit held threshold low',
    shortcut: 'l',
  },
  {
    path: '/members',
    title: 'Members',
    section: 'Account',
    icon: Users,
    need: 'owner',
    component: lazy(() => import('./pages/members/members.tsx')),
    words: 'people team invite roles permissions owners',
    shortcut: 'u',
  },
  {
    path: '/audit',
    title: 'Audit log',
    section: 'Account',
    icon: ScrollText,
    need: 'owner',
    component: lazy(() => import('./pages/audit/audit.tsx')),
    words: 'history who changed what trail',
    shortcut: 'a',
  },
  {
    path: '/account',
    title: 'Account',
    section: 'Account',
    icon: Settings2,
    need: 'member',
    component: lazy(() => import('./pages/settings/settings.tsx')),
    words: 'settings profile home country quiet hours plan pool currency',
  },
  {
    path: '/profile',
    title: 'Your login',
    section: 'Account',
    icon: ShieldUser,
    need: 'anyone',
    component: lazy(() => import('./pages/profile/profile.tsx')),
    words: 'profile password second factor totp sessions sign out devices',
  },
]
