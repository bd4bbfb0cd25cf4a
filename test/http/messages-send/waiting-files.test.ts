import { expect, test } from 'vitest'
import { startTestApp } from '../../support/app.ts'

test('base64 files of scheduled messages are refused beyond the limit for files, until they are cancelled', async () => {
  const app = await startTestApp({ env: { POSTHORN_MEDIA_ACCOUNT_MB: '1' } })
  try {
    const account = await app.createAccount()
    const attachment = { type: 'document', base64: Buffer.alloc(600_000, 1).toString('base64') }
    const body = { to: 'a@example.com', content: { subject: 'Terms', text: 'See attached.' }, attachment }
    const scheduled = (key: string, to: unknown = body.to) => ({
      ...body,
      to,
      options: { scheduleAt: new Date(app.now() + 3_600_000).toISOString(), idempotencyKey: key },
    })
    const post = (sent: object, path = 'send') =>
      app.call(`/api/v2/messages/${path}`, { method: 'POST', key: account.testKey, body: sent })

    const at = scheduled('first')
    // An estimate takes no room.
    for (const _ of [1, 2])
      expect((await post(at, 'estimate')).body['data']).toMatchObject({ deliverable: true })
    const first = await post(at)
    expect(first.status, first.text).toBe(200)
    const second = scheduled('second')
    expect((await post(second, 'estimate')).body['data']).toMatchObject({
      deliverable: false,
      reasons: [{ code: 'CONFLICT' }],
    })
    expect((await post(body, 'estimate')).body['data']).toMatchObject({ deliverable: true })
    expect(await post(second)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    // A repeat stores nothing, and what leaves at once does not wait.
    expect((await post(at)).headers.get('idempotency-replayed')).toBe('true')
    expect((await post(body)).status).toBe(200)
    const batch = await post(scheduled('third', ['a@example.com', 'b@example.com']))
    expect(batch).toMatchObject({
      status: 207,
      body: { results: [{ code: 'CONFLICT' }, { code: 'CONFLICT' }] },
    })

    const { messageId } = first.body['tracking'] as { messageId: string }
    const cancel = { method: 'POST', key: account.testKey }
    expect((await app.call(`/api/v2/messages/${messageId}/cancel`, cancel)).status).toBe(200)
    await app.pass(10_000)
    expect((await post(second)).status).toBe(200)
  } finally {
    await app.stop()
  }
})
