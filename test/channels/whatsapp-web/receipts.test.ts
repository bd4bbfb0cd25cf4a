import { expect, test } from 'vitest'
import { messageIdOf } from '../../../src/channels/whatsapp-web/message-id.ts'
import { readReceipts } from '../../../src/channels/whatsapp-web/receipts.ts'

const attemptId = 'msg_00000000000000000000000001.1'
const id = messageIdOf(attemptId)
const receipt = (attrs: Record<string, string>) =>
  readReceipts({ tag: 'receipt', attrs: { id, t: '1767225600', ...attrs } })

test.each([
  [undefined, 'delivered'],
  ['inactive', 'delivered'],
  ['read', 'read'],
  ['played', 'read'],
])('a receipt of the type %s: %s', (type, status) => {
  expect(receipt(type === undefined ? {} : { type })).toMatchObject([
    { attemptId, status, atMs: Date.UTC(2026, 0, 1) },
  ])
})

test.each(['sender', 'constructor', 'toString'])('one of the type %s tells of nothing', type => {
  expect(receipt({ type })).toEqual([])
})

test('what a person’s own devices say counts for nothing', () => {
  expect(receipt({ recipient: '12025550123@s.whatsapp.net' })).toEqual([])
})

test('what the people of a group say comes together where the session was away: each message once, by the first of them', () => {
  const another = messageIdOf('msg_00000000000000000000000002.1')
  const user = (t: string) => ({ tag: 'user', attrs: { jid: '12025550123@s.whatsapp.net', t } })
  const node = {
    tag: 'receipt',
    attrs: { id: 'ABCD', from: '120363000000000000@g.us', type: 'read', t: '1767225900' },
    content: [
      { tag: 'participants', attrs: { key: id }, content: [user('1767225660'), user('1767225600')] },
      { tag: 'participants', attrs: { key: another }, content: [{ tag: 'user', attrs: {} }] },
      { tag: 'participants', attrs: { key: messageIdOf('msg_00000000000000000000000003.1') } },
    ],
  }
  expect(readReceipts(node)).toMatchObject([
    { attemptId, providerId: id, status: 'read', atMs: Date.UTC(2026, 0, 1) },
    { providerId: another, status: 'read', atMs: Date.UTC(2026, 0, 1, 0, 5) },
  ])
  expect(readReceipts({ ...node, attrs: { ...node.attrs, id } })).toHaveLength(2)
})
