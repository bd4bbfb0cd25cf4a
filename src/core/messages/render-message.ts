import type { Channel, KeyMode } from '../../contract/enums.ts'
import { invalid } from '../../contract/errors.ts'
import type { SingleSendBody } from '../../contract/send.ts'
import { TEMPLATE_CATEGORIES } from '../../contract/template.ts'
import type { StoredTemplate } from '../outbox/stored-content.ts'
import type { Carrier } from '../routing/route.ts'
import type { AccountTemplatesSnapshot, TemplateSnapshot } from '../templates/snapshot.ts'
import { isCodeOnly } from '../templates/spec.ts'
import type { TemplateId } from '../templates/store.ts'
import { isUsable } from '../templates/transitions.ts'
import { composeContent, ownText, type RenderedText } from './content.ts'
import { channelsOf } from './template-find.ts'
import type { HeaderSources } from './template-header.ts'
import { renderCode, renderNamedTemplate } from './template-render.ts'

/** The rendered text of a message, and its template; `stored` is set if the provider fills the template in. */
export type RenderedMessage = {
  rendered: RenderedText
  template: { id: TemplateId; stored: StoredTemplate | null } | null
  /** A bare code, without a text from the sender, which is rendered anew for another channel; null for other content. */
  code: string | null
}

export type RenderSources = HeaderSources & { templates: AccountTemplatesSnapshot; mode: KeyMode }

/** Renders a message: by the named template, by the default template for a bare code, or from the body's text. */
export function renderMessage(
  body: SingleSendBody,
  carrier: Carrier,
  named: TemplateSnapshot | null,
  sources: RenderSources,
): RenderedMessage {
  const code = (named ? undefined : codeWithoutText(body, carrier.channel)) ?? null
  const template = code === null ? named : defaultCodeTemplate(carrier, sources)
  if (!template) return { rendered: composeContent(body, carrier.channel), template: null, code }
  const { rendered, stored } =
    code === null ? renderNamedTemplate(body, template, carrier.channel, sources) : renderCode(template, code)
  if (stored && body.attachment) {
    throw invalid('attachment', 'is not allowed with an official template: give the file as its header')
  }
  return { rendered, template: { id: template.id, stored }, code }
}

/** The code of a body that has neither a text nor, on e-mail, a subject. */
function codeWithoutText(body: SingleSendBody, channel: Channel): string | undefined {
  const { content } = body
  const hasSubject = channel === 'email_user' && content?.subject !== undefined
  return ownText(body) !== undefined || hasSubject ? undefined : content?.otpCode
}

/** The default template for codes on a channel; null if there is none that this connection may carry. */
function defaultCodeTemplate(
  { channel, connection }: Carrier,
  { templates, mode }: RenderSources,
): TemplateSnapshot | null {
  for (const category of TEMPLATE_CATEGORIES) {
    const template = templates.defaultOf(category, 'otp')
    if (!template || !channelsOf(template).includes(channel)) continue
    if (!isUsable(template.status) || !isCodeOnly(template)) continue
    const { official } = template
    if (!official || mode === 'test' || official.connectionId === connection.id) return template
  }
  return null
}
