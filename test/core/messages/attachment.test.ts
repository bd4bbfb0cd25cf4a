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
])(
  'a file of type %s at %s, named %s, is %s unless a mimetype is given',
  (type, publicUrl, fileName, mimetype) => {
    const given = { type, publicUrl, ...(fileName !== undefined && { fileName }) }
    expect(planAttachment(given, 'email_user', SOURCES)?.mimetype).toBe(mimetype)
    const withMimetype = { ...given, mimetype: 'application/x-own' }
    expect(planAttachment(withMimetype, 'email_user', SOURCES)?.mimetype).toBe('application/x-own')
  },
)

test.each([
  ['https://example.com/Rechnung%20M%C3%A4rz.pdf', 'Rechnung März.pdf'],
  ['https://example.com/%E6%96%87%E4%BB%B6.pdf?v=2', '文件.pdf'],
  ['https://example.com/out%2F2026.pdf', '2026.pdf'],
  ['https://example.com/100%.pdf', '100%.pdf'],
  ['https://example.com/a%0D%0Ab.pdf', 'ab.pdf'],
  ['https://example.com/', 'document'],
])('a file at %s is named %s unless a name is given', (publicUrl, name) => {
  expect(planAttachment({ type: 'document', publicUrl }, 'email_user', SOURCES)?.fileName).toBe(name)
})

test('an empty file is rejected', () => {
  const given = { type: 'document' as const, base64: '\r\n' }
  expect(() => planAttachment(given, 'email_user', SOURCES)).toThrow('attachment.base64: must not be empty')
})
