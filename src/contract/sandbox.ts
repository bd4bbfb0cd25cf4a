import { type Static, Type } from 'typebox'
import { ATTACHMENT_TYPES, CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf, page, pageQuery, RecipientFilter } from './envelope.ts'

/** The key of the provider that sends nothing. */
export const SANDBOX = 'sandbox'

/** A file of a message: its metadata, not its bytes. */
export const SandboxMedia = Type.Object({
  type: oneOf(ATTACHMENT_TYPES),
  mimetype: Type.String(),
  fileName: Type.String(),
  sizeBytes: Type.Integer(),
  sha256: Type.String({ description: 'Of the bytes, in hexadecimal.' }),
  publicUrl: Type.Optional(Type.String()),
})
export type SandboxMedia = Static<typeof SandboxMedia>

/** An official template as a message used it, with the values that a provider would fill in. */
export const SandboxTemplateUse = Type.Object({
  name: Type.String(),
  language: Type.String(),
  header: nullable(
    Type.Object({
      type: oneOf(['text', 'image', 'video', 'document'] as const),
      variables: nullable(Type.Array(Type.String(), { description: 'The values of a text header.' })),
      media: nullable(SandboxMedia),
    }),
  ),
  body: Type.Array(Type.String(), { description: 'The values of `{{1}}`, `{{2}}` and so on.' }),
  buttons: Type.Array(
    Type.Object({
      index: Type.Integer(),
      subType: oneOf(['url', 'copy_code'] as const),
      text: Type.String(),
    }),
  ),
})
export type SandboxTemplateUse = Static<typeof SandboxTemplateUse>

/** A message in the sandbox; one-time codes are not masked here. */
export const SandboxMessage = Type.Object({
  messageId: Type.String(),
  channel: oneOf(CHANNELS),
  to: Type.String(),
  sender: nullable(Type.String()),
  subject: nullable(Type.String()),
  text: nullable(Type.String({ description: 'Null for an HTML message.' })),
  html: nullable(Type.String({ description: 'Null for a plain-text message.' })),
  media: nullable(Type.Array(SandboxMedia)),
  template: nullable(SandboxTemplateUse),
  attempts: Type.Integer({
    description: 'Attempts until the sandbox accepted the message, including the accepted one.',
  }),
  receivedAt: IsoTime,
})
export type SandboxMessage = Static<typeof SandboxMessage>

/** The query of `GET /api/v2/sandbox/messages`. */
export const SandboxQuery = pageQuery({
  to: Type.Optional(RecipientFilter),
})
export type SandboxQuery = Static<typeof SandboxQuery>

export const SandboxPage = page(SandboxMessage)
export type SandboxPage = Static<typeof SandboxPage>
