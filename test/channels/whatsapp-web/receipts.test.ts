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
])('a receipt of the type %s is reported as %s', (type, status) => {
  expect(receipt(type === undefined ? {} : { type })).toMatchObject([
    { attemptId, status, atMs: Date.UTC(2026, 0, 1) },
  ])
})

test.each(['sender', 'constructor', 'toString'])('a receipt of the type %s is ignored', type => {
  expect(receipt({ type })).toEqual([])
})

test('a receipt from the sender’s own devices is ignored', () => {
  expect(receipt({ recipient: '12025550123@s.whatsapp.net' })).toEqual([])
})

test('queued receipts of a group yield one receipt per message, with the earliest time', () => {
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
