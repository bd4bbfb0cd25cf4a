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
