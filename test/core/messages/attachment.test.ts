import { expect, test } from 'vitest'
import type { AttachmentType } from '../../../src/contract/enums.ts'
import { planAttachment } from '../../../src/core/messages/attachment.ts'

const SOURCES = { checkUrl: () => null, assets: undefined }

test.each<[AttachmentType, string, string | undefined, string]>([
  ['image', 'https://example.com/a/photo.PNG?size=2', undefined, 'image/png'],
  ['image', 'https://example.com/photo.jpeg', undefined, 'image/jpeg'],
  ['document', 'https://example.com/invoice.pdf', undefined, 'application/pdf'],
  ['document', 'https://example.com/photo.png', undefined, 'image/png'],
  ['document', 'https://example.com/17', 'list.csv', 'text/csv'],
  ['image', 'https://example.com/invoice.pdf', undefined, 'image/jpeg'],
  ['audio', 'https://example.com/pdf', undefined, 'audio/mpeg'],
  ['document', 'https://example.com/', undefined, 'application/octet-stream'],
])('a file of type %s at %s, called %s, is %s where nobody says', (type, publicUrl, fileName, mimetype) => {
  const given = { type, publicUrl, ...(fileName !== undefined && { fileName }) }
  expect(planAttachment(given, 'email_user', SOURCES)?.mimetype).toBe(mimetype)
  const said = { ...given, mimetype: 'application/x-own' }
  expect(planAttachment(said, 'email_user', SOURCES)?.mimetype).toBe('application/x-own')
})
