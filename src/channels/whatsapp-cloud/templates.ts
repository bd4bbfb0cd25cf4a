import type {
  OfficialButton,
  OfficialTemplate,
  StoredTemplateRef,
  TemplateOutcome,
  TemplateState,
} from '../provider.ts'
import { entryOf } from '../shared/table.ts'
import { GRAPH_ID } from './config.ts'
import { objectsIn, stringOf } from './fields.ts'
import {
  callGraph,
  type Graph,
  type GraphResult,
  graphRequest,
  SUBCODE_EXISTS,
  SUBCODE_NOT_FOUND,
} from './graph.ts'
import { uploadSample } from './media.ts'

/** Templates per page; Graph's filter by name matches all names that contain it. */
const PAGE_ITEMS = 100
const MAX_PAGES = 20

const STATE_FIELDS = 'id,name,language,status,category,rejected_reason'
const ID = new RegExp(GRAPH_ID)

/** The templates of one WhatsApp Business Account. */
export type Templates = {
  submit(template: OfficialTemplate, signal: AbortSignal): Promise<TemplateOutcome>
  read(name: string, language: string, signal: AbortSignal): Promise<TemplateState | null>
  find(id: string, signal: AbortSignal): Promise<TemplateState | null>
  remove(template: StoredTemplateRef, signal: AbortSignal): Promise<void>
}

/** `app`: the app to which samples of headers are uploaded. */
export function createTemplates(graph: Graph, businessAccountId: string, app: string): Templates {
  const edge = `${businessAccountId}/message_templates`

  async function submit(template: OfficialTemplate, signal: AbortSignal): Promise<TemplateOutcome> {
    const header = await headerComponents(template.header, app, graph, signal)
    if ('kind' in header) return header
    const body = {
      name: template.name,
      language: template.language,
      category: CATEGORIES[template.subType],
      components: [...header.components, ...componentsOf(template)],
    }
    const asked = await callGraph(graph, graphRequest(graph, edge, { body }), signal)
    if (asked.kind === 'unavailable') return { kind: 'unavailable', detail: asked.detail }
    if (asked.kind === 'answer') return readCreated(asked.body, template)
    if (asked.error.subcode === SUBCODE_EXISTS) return submitExisting(template, signal)
    const detail = asked.error.text || `WhatsApp refuses the template with code ${asked.error.code}.`
    return { kind: 'refused', detail, providerCode: asked.error.code }
  }

  /** The template of that name that exists: our own, if the answer to its submit was lost, or another text, which is a conflict. */
  async function submitExisting(template: OfficialTemplate, signal: AbortSignal): Promise<TemplateOutcome> {
    const { name, language } = template
    try {
      const item = await findByName(name, language, `${STATE_FIELDS},components`, signal)
      if (!item) {
        return { kind: 'unavailable', detail: 'WhatsApp has the template, but does not show it yet.' }
      }
      if (hasSameContent(item, template)) return { kind: 'submitted', state: stateOf(item, name, language) }
      const detail = 'WhatsApp already has a template of this name and language, with other content.'
      return { kind: 'refused', detail, path: 'name' }
    } catch (error) {
      return { kind: 'unavailable', detail: (error as Error).message }
    }
  }

  async function read(name: string, language: string, signal: AbortSignal): Promise<TemplateState | null> {
    const item = await findByName(name, language, STATE_FIELDS, signal)
    return item && stateOf(item, name, language)
  }

  async function findByName(
    name: string,
    language: string,
    fields: string,
    signal: AbortSignal,
  ): Promise<Record<string, unknown> | null> {
    let after: string | null = ''
    for (let page = 0; page < MAX_PAGES && after !== null; page++) {
      const asked = await callGraph(graph, graphRequest(graph, pageOf(name, fields, after)), signal)
      const said = bodyOrThrow(asked)
      if (!Array.isArray(said['data'])) throw new Error('WhatsApp’s answer has no list of templates.')
      const found = objectsIn(said['data']).find(
        each => each['name'] === name && each['language'] === language,
      )
      if (found) return found
      after = nextCursor(said)
    }
    // Not "none": it may be among the rest, and would be disabled here, or left there when it is deleted.
    if (after !== null) throw new Error(`WhatsApp has too many templates with "${name}" in their name.`)
    return null
  }

  function pageOf(name: string, fields: string, after: string): string {
    const query = new URLSearchParams({ name, fields, limit: String(PAGE_ITEMS) })
    if (after !== '') query.set('after', after)
    return `${edge}?${query}`
  }

  /** Reads the name by the id, then the template by the name: the id may be of another business account of the same owner. */
  async function find(id: string, signal: AbortSignal): Promise<TemplateState | null> {
    if (!ID.test(id)) return null
    const asked = await callGraph(graph, graphRequest(graph, `${id}?fields=name,language`), signal)
    if (asked.kind === 'refused') return null
    const { name, language } = bodyOrThrow(asked)
    if (typeof name !== 'string' || typeof language !== 'string') return null
    const state = await read(name, language, signal)
    return state?.providerTemplateId === id ? state : null
  }

  /** By id and name: a name alone would delete the template in every language. */
  async function remove(
    { name, language, providerTemplateId }: StoredTemplateRef,
    signal: AbortSignal,
  ): Promise<void> {
    const state = await read(name, language, signal)
    if (!state || (providerTemplateId !== null && providerTemplateId !== state.providerTemplateId)) return
    const query = new URLSearchParams({ hsm_id: state.providerTemplateId, name })
    const request = graphRequest(graph, `${edge}?${query}`, { method: 'DELETE' })
    const asked = await callGraph(graph, request, signal)
    if (asked.kind === 'refused' && asked.error.subcode === SUBCODE_NOT_FOUND) return
    bodyOrThrow(asked)
  }

  return { submit, read, find, remove }
}

/** WhatsApp has no other categories; free text counts as marketing. */
const CATEGORIES: Record<OfficialTemplate['subType'], string> = {
  otp: 'AUTHENTICATION',
  utility: 'UTILITY',
  marketing: 'MARKETING',
  free: 'MARKETING',
}

async function headerComponents(
  header: OfficialTemplate['header'],
  app: string,
  graph: Graph,
  signal: AbortSignal,
): Promise<{ components: object[] } | TemplateOutcome> {
  if (header === null) return { components: [] }
  if (header.type === 'text') {
    const example = header.examples.length > 0 && { example: { header_text: header.examples } }
    return { components: [{ type: 'HEADER', format: 'TEXT', text: header.text, ...example }] }
  }
  const sample = await uploadSample(header.file, app, graph, signal)
  if ('refused' in sample) return { kind: 'refused', detail: sample.refused, path: 'headerAssetId' }
  if ('unavailable' in sample) return { kind: 'unavailable', detail: sample.unavailable }
  const example = { header_handle: [sample.handle] }
  return { components: [{ type: 'HEADER', format: header.type.toUpperCase(), example }] }
}

/** Source: https://developers.facebook.com/docs/whatsapp/business-management-api/message-templates/components. */
function componentsOf(template: OfficialTemplate): object[] {
  if (template.otp !== null) return authenticationOf(template.otp)
  const { body, examples, footer, buttons } = template
  return [
    { type: 'BODY', text: body, ...(examples.length > 0 && { example: { body_text: [examples] } }) },
    ...(footer === null ? [] : [{ type: 'FOOTER', text: footer }]),
    ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons: buttons.map(buttonOf) }]),
  ]
}

/** WhatsApp sets the text of authentication templates; only the additions can be chosen. */
function authenticationOf(otp: NonNullable<OfficialTemplate['otp']>): object[] {
  const app = otp.packageName !== null &&
    otp.signatureHash !== null && {
      supported_apps: [{ package_name: otp.packageName, signature_hash: otp.signatureHash }],
    }
  const button = {
    type: 'OTP',
    otp_type: otp.type.toUpperCase(),
    ...(otp.buttonText !== null && { text: otp.buttonText }),
    ...app,
    ...(otp.type === 'zero_tap' && { zero_tap_terms_accepted: otp.zeroTapTermsAccepted }),
  }
  return [
    { type: 'BODY', add_security_recommendation: otp.addSecurityRecommendation },
    ...(otp.codeExpirationMinutes === null
      ? []
      : [{ type: 'FOOTER', code_expiration_minutes: otp.codeExpirationMinutes }]),
    { type: 'BUTTONS', buttons: [button] },
  ]
}

function buttonOf(button: OfficialButton): object {
  const { text } = button
  switch (button.type) {
    case 'url':
      return {
        type: 'URL',
        text,
        url: button.url,
        ...(button.urlExample !== null && { example: [button.urlExample] }),
      }
    case 'phone':
      return { type: 'PHONE_NUMBER', text, phone_number: button.phoneNumber }
    case 'quick_reply':
      return { type: 'QUICK_REPLY', text }
    case 'copy_code':
      // WhatsApp sets its label.
      return { type: 'COPY_CODE', example: button.example }
  }
}

/** Compares what the reader sees; not the text of authentication templates, which WhatsApp sets. */
function hasSameContent(item: Record<string, unknown>, template: OfficialTemplate): boolean {
  if (template.otp !== null) return item['category'] === 'AUTHENTICATION'
  const theirs = Array.isArray(item['components']) ? item['components'] : []
  const header =
    template.header === null
      ? []
      : [
          {
            type: 'HEADER',
            format: template.header.type.toUpperCase(),
            ...(template.header.type === 'text' && { text: template.header.text }),
          },
        ]
  return contentKey(theirs) === contentKey([...header, ...componentsOf(template)])
}

function contentKey(components: readonly object[]): string {
  const words = (components as Record<string, unknown>[]).map(({ type, format, text, buttons }) => [
    type,
    type === 'HEADER' ? format : null,
    typeof text === 'string' ? text.trim() : null,
    Array.isArray(buttons) ? buttons.map(buttonKey) : null,
  ])
  return JSON.stringify(words.sort((a, b) => String(a[0]).localeCompare(String(b[0]))))
}

/** Without the label of a button that copies a code, which WhatsApp sets. */
function buttonKey(button: Record<string, unknown> | null): unknown[] {
  const { type, text, url, phone_number: phone } = button ?? {}
  return [
    type,
    type !== 'COPY_CODE' && typeof text === 'string' ? text.trim() : null,
    url ?? null,
    typeof phone === 'string' ? phone.replace(/\D/g, '') : null,
  ]
}

function readCreated(said: Record<string, unknown>, { name, language }: OfficialTemplate): TemplateOutcome {
  if (typeof said['id'] !== 'string') {
    return { kind: 'unavailable', detail: 'WhatsApp’s answer has no template id.' }
  }
  return { kind: 'submitted', state: stateOf(said, name, language) }
}

function stateOf(item: Record<string, unknown>, name: string, language: string): TemplateState {
  const reason = reasonOf(item['rejected_reason'])
  return {
    providerTemplateId: stringOf(item['id']),
    name,
    language,
    status: statusOf(item['status']) ?? 'pending',
    reason,
    ...subTypeOf(item['category']),
  }
}

/** The categories between which WhatsApp may move a template; authentication templates are not moved. */
const SUB_TYPES = { UTILITY: 'utility', MARKETING: 'marketing' } as const

/** Empty for a category that a template cannot be moved to. */
export function subTypeOf(category: unknown): Pick<TemplateState, 'subType'> {
  const subType = typeof category === 'string' ? entryOf(SUB_TYPES, category) : undefined
  return subType ? { subType } : {}
}

/** Statuses in lists and in events. Those that change nothing for sends are left out. */
const STATUSES: Readonly<Record<string, TemplateState['status']>> = {
  PENDING: 'pending',
  IN_APPEAL: 'pending',
  APPROVED: 'approved',
  REINSTATED: 'approved',
  // Warned about, but still usable.
  FLAGGED: 'approved',
  REJECTED: 'rejected',
  PAUSED: 'disabled',
  DISABLED: 'disabled',
  ARCHIVED: 'disabled',
  // What it was before is not said: the poll that follows each change shows where it was not approved.
  UNARCHIVED: 'approved',
  LIMIT_EXCEEDED: 'disabled',
  DELETED: 'disabled',
  PENDING_DELETION: 'disabled',
}

/** Undefined for a status that changes nothing for sends. */
export function statusOf(said: unknown): TemplateState['status'] | undefined {
  return typeof said === 'string' ? entryOf(STATUSES, said) : undefined
}

/** WhatsApp writes NONE for none. */
export function reasonOf(said: unknown): string | null {
  return typeof said === 'string' && said !== '' && said !== 'NONE' ? said.slice(0, 500) : null
}

/** Throws where the request had no answer that can be used. */
function bodyOrThrow(asked: GraphResult): Record<string, unknown> {
  if (asked.kind === 'answer') return asked.body
  throw new Error(asked.kind === 'unavailable' ? asked.detail : `WhatsApp refuses: ${asked.error.text}`)
}

function nextCursor(said: Record<string, unknown>): string | null {
  const paging = (said['paging'] ?? {}) as { next?: unknown; cursors?: { after?: unknown } }
  const after = paging.cursors?.after
  return typeof paging.next === 'string' && typeof after === 'string' && after !== '' ? after : null
}
