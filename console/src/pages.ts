import {
  BadgeCheck,
  Ban,
  Bot,
  Building2,
  Cable,
  CircleHelp,
  FlaskConical,
  Gauge,
  History,
  Inbox,
  KeyRound,
  Layers,
  LayoutList,
  LayoutTemplate,
  ListOrdered,
  type LucideIcon,
  MessagesSquare,
  Rocket,
  Rows3,
  ScrollText,
  SendHorizontal,
  Server,
  Settings2,
  ShieldAlert,
  ShieldCheck,
  ShieldUser,
  Signature,
  Smartphone,
  Stamp,
  Tags,
  Users,
  UsersRound,
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
  component: Later
  /** Where its path has parameters: they are its props. */
  pattern?: string
  /** Other words by which the palette finds it. */
  words?: string
  /** After `g`. */
  shortcut?: string
  /** Reached by the palette and by links alone. */
  hidden?: true
}

type PageComponent = ComponentType<Record<string, string | undefined>>
type Later = LazyExoticComponent<PageComponent> & { load(): Promise<unknown> }

/** Loaded when it is opened, or asked for before. */
function later(load: () => Promise<{ default: PageComponent }>): Later {
  return Object.assign(lazy(load), { load })
}

/** Begins to load the page at `path`, while it is still being found out who asks for it. */
export function loadPageAt(path: string): void {
  const step = `/${path.split('/')[1]!}`
  // Where that fails it is tried again, and told, when the page is drawn.
  PAGES.find(page => page.path === path || page.path === step)
    ?.component.load()
    .catch(() => {})
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
    component: later(() => import('./pages/overview/overview.tsx')),
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
    component: later(() => import('./pages/welcome/welcome.tsx')),
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
    component: later(() => import('./pages/messages/messages.tsx')),
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
    component: later(() => import('./pages/inbound/inbound.tsx')),
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
    component: later(() => import('./pages/send/send.tsx')),
    words: 'playground compose new message estimate price',
    shortcut: 's',
  },
  {
    path: '/sandbox',
    title: 'Sandbox inbox',
    section: 'Messages',
    icon: FlaskConical,
    need: 'member',
    component: later(() => import('./pages/sandbox/sandbox.tsx')),
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
    component: later(() => import('./pages/templates/templates.tsx')),
    words: 'preview variables approval whatsapp buttons footer',
    shortcut: 't',
  },
  {
    path: '/bulk',
    title: 'Bulk',
    section: 'Messages',
    icon: Rows3,
    need: 'member',
    permission: 'messages:read',
    // `new` is the wizard.
    pattern: '/bulk/:jobId?',
    component: later(() => import('./pages/bulk/bulk.tsx')),
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
    component: later(() => import('./pages/verification/verification.tsx')),
    words: 'otp codes conversion statistics blocks fraud settings try two factor',
    shortcut: 'v',
  },
  {
    path: '/suppressions',
    title: 'Suppression list',
    section: 'Messages',
    icon: Ban,
    need: 'member',
    component: later(() => import('./pages/suppressions/suppressions.tsx')),
    words: 'stop opt out unsubscribe block list consent',
  },
  {
    path: '/sms-senders',
    title: 'SMS senders',
    section: 'Channels',
    icon: Signature,
    need: 'member',
    permission: 'messages:create',
    component: later(() => import('./pages/sms-senders/sms-senders.tsx')),
    words: 'sender name alphanumeric brand request review from',
  },
  {
    path: '/official-senders',
    title: 'Official senders',
    section: 'Channels',
    icon: BadgeCheck,
    need: 'member',
    component: later(() => import('./pages/official-senders/official-senders.tsx')),
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
    component: later(() => import('./pages/bots/bots.tsx')),
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
    component: later(() => import('./pages/sessions/sessions.tsx')),
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
    component: later(() => import('./pages/keys/keys.tsx')),
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
    permission: 'messages:create',
    pattern: '/endpoints/:webhookId?/:deliveryId?',
    component: later(() => import('./pages/webhooks/webhooks.tsx')),
    words: 'callbacks events deliveries payload replay secret endpoints',
    shortcut: 'w',
  },
  {
    path: '/wallet',
    title: 'Wallet',
    section: 'Account',
    icon: Wallet,
    need: 'member',
    component: later(() => import('./pages/wallet/wallet.tsx')),
    words: 'balance ledger money spent credit held threshold low',
    shortcut: 'l',
  },
  {
    path: '/members',
    title: 'Members',
    section: 'Account',
    icon: Users,
    need: 'owner',
    component: later(() => import('./pages/members/members.tsx')),
    words: 'people team invite roles permissions owners',
    shortcut: 'u',
  },
  {
    path: '/audit',
    title: 'Audit log',
    section: 'Account',
    icon: ScrollText,
    need: 'owner',
    component: later(() => import('./pages/audit/audit.tsx')),
    words: 'history who changed what trail',
    shortcut: 'a',
  },
  {
    path: '/account',
    title: 'Account',
    section: 'Account',
    icon: Settings2,
    need: 'member',
    component: later(() => import('./pages/settings/settings.tsx')),
    words: 'settings profile home country quiet hours plan pool currency',
  },
  {
    path: '/operator/senders',
    title: 'Sender review',
    section: 'Operator',
    icon: Stamp,
    need: 'operator',
    pattern: '/operator/senders/:senderId?',
    component: later(() => import('./pages/operator/senders/senders.tsx')),
    words: 'operator sms sender names approve reject queue',
  },
  {
    path: '/operator/accounts',
    title: 'Accounts',
    section: 'Operator',
    icon: Building2,
    need: 'operator',
    pattern: '/operator/accounts/:accountId?/:tab?',
    component: later(() => import('./pages/operator/accounts/accounts.tsx')),
    words: 'operator customers tenants plan limits credit suspend',
  },
  {
    path: '/operator/people',
    title: 'People',
    section: 'Operator',
    icon: UsersRound,
    need: 'operator',
    pattern: '/operator/people/:personId?',
    component: later(() => import('./pages/operator/people/people.tsx')),
    words: 'operator logins users invite operators owners reset password lost',
  },
  {
    path: '/operator/prices',
    title: 'Prices',
    section: 'Operator',
    icon: Tags,
    need: 'operator',
    component: later(() => import('./pages/operator/prices/prices.tsx')),
    words: 'operator price list csv rates cost import export',
  },
  {
    path: '/operator/connections',
    title: 'Connections',
    section: 'Operator',
    icon: Cable,
    need: 'operator',
    // `new` is the form.
    pattern: '/operator/connections/:connectionId?',
    component: later(() => import('./pages/operator/connections/connections.tsx')),
    words: 'operator providers smpp smtp twilio carriers routes test order',
  },
  {
    path: '/operator/policies',
    title: 'Policies',
    section: 'Operator',
    icon: ListOrdered,
    need: 'operator',
    component: later(() => import('./pages/operator/policies/policies.tsx')),
    words: 'operator routing order priority failover channels carries types tries',
  },
  {
    path: '/operator/unknown',
    title: 'Unknown outcomes',
    section: 'Operator',
    icon: CircleHelp,
    need: 'operator',
    component: later(() => import('./pages/operator/unknown/unknown.tsx')),
    words: 'operator unknown uncertain lost answers',
  },
  {
    path: '/operator/nodes',
    title: 'Nodes',
    section: 'Operator',
    icon: Server,
    need: 'operator',
    component: later(() => import('./pages/operator/nodes/nodes.tsx')),
    words: 'operator nodes leases links processes cluster',
  },
  {
    path: '/operator/queues',
    title: 'Queues',
    section: 'Operator',
    icon: Layers,
    need: 'operator',
    component: later(() => import('./pages/operator/queues/queues.tsx')),
    words: 'operator queue depth lag backlog waiting',
  },
  {
    path: '/operator/templates',
    title: 'Platform templates',
    section: 'Operator',
    icon: LayoutList,
    need: 'operator',
    // `new` is the editor.
    pattern: '/operator/templates/:templateId?',
    component: later(() => import('./pages/operator/templates/templates.tsx')),
    words: 'operator platform templates defaults shared',
  },
  {
    path: '/operator/fraud',
    title: 'Fraud rules',
    section: 'Operator',
    icon: ShieldAlert,
    need: 'operator',
    component: later(() => import('./pages/operator/fraud/fraud.tsx')),
    words: 'operator fraud guard limits countries cap safe pumping',
  },
  {
    path: '/operator/audit',
    title: 'Audit of all',
    section: 'Operator',
    icon: History,
    need: 'operator',
    component: later(() => import('./pages/operator/audit/audit.tsx')),
    words: 'operator audit history who changed what',
  },
  {
    path: '/profile',
    title: 'Your login',
    section: 'Account',
    icon: ShieldUser,
    need: 'anyone',
    component: later(() => import('./pages/profile/profile.tsx')),
    words: 'profile password second factor totp sessions sign out devices',
  },
]
