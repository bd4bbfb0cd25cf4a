import { type Static, Type } from 'typebox'
import { ATTACHMENT_TYPES, CHANNELS } from './enums.ts'
import { IsoTime, nullable, oneOf, page, pageQuery } from './envelope.ts'

/** A file that came with a message: what it was, not its bytes. */
export const SandboxMedia = Type.Object({
  type: oneOf(ATTACHMENT_TYPES),
  mimetype: Type.String(),
  fileName: Type.String(),
  sizeBytes: Type.Integer(),
  sha256: Type.String({ description: 'Of the bytes, in hex.' }),
  publicUrl: Type.Optional(Type.String()),
})
export type SandboxMedia = Static<typeof SandboxMedia>

/** A message as the sandbox took it; one-time codes are in the clear here. */
export const SandboxMessage = Type.Object({
  messageId: Type.String(),
  channel: oneOf(CHANNELS),
  to: Type.String(),
  sender: nullable(Type.String()),
  subject: nullable(Type.String()),
  text: nullable(Type.String({ description: 'Null where the message is HTML.' })),
  html: nullable(Type.String({ description: 'Null where the message is plain text.' })),
  media: nullable(Type.Array(SandboxMedia)),
  template: Type.Null(),
  attempts: Type.Integer({ description: 'Tries until it was taken, that one included.' }),
  receivedAt: IsoTime,
})
export type SandboxMessage = Static<typeof SandboxMessage>

/** The query of `GET /api/v2/sandbox/messages`. */
export const SandboxQuery = pageQuery({
  to: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'One recipient, as its message has it. Write the plus of a phone as %2B.',
    }),
  ),
})
export type SandboxQuery = Static<typeof SandboxQuery>

export const SandboxPage = page(SandboxMessage)
export type SandboxPage = Static<typeof SandboxPage>
