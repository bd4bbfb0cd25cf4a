import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { type Smsc, startSmsc } from '../../support/smsc.ts'

let app: TestApp
let account: TestAccount
let smsc: Smsc

beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount({ balance: 10 })
  smsc = await startSmsc('accept')
})
afterAll(async () => {
  await app.stop()
  await smsc.close()
})

const providerOfSend = async () => {
  const body = { to: '+12025550123', text: 'x' }
  const answer = await app.during(account.send(body, { live: true }))
  return (answer.body['resolved'] as { provider: string }).provider
}

test('an added or removed connection takes effect from the next send', async () => {
  expect(await providerOfSend()).toBe('sandbox')
  const added = await app.admin('POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: { host: '127.0.0.1', port: smsc.port, systemId: 'me', password: 'secret' },
  })
  const { id } = (added.body['data'] as { connection: { id: string } }).connection
  expect(await providerOfSend()).toBe('smpp')
  await app.admin('DELETE', `/connections/${id}`)
  expect(await providerOfSend()).toBe('sandbox')
})

test('returns 409 on deleting the built-in sandbox connection, but deletes a second sandbox connection', async () => {
  const { body } = await app.admin('GET', '/connections')
  const seeded = (body['data'] as { id: string; provider: string }[]).find(
    each => each.provider === 'sandbox',
  )!
  const remove = (id: string) => app.admin('DELETE', `/connections/${id}`)
  const refused = await remove(seeded.id)
  expect(refused).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  const added = await app.admin('POST', '/connections', {
    provider: 'sandbox',
    name: 'second',
    channels: ['local_sms'],
  })
  const { id } = (added.body['data'] as { connection: { id: string } }).connection
  expect((await remove(id)).status).toBe(200)
  expect((await account.send({ to: '+12025550123', text: 'x' })).status).toBe(200)
  expect((await remove(id)).status).toBe(404)
})
