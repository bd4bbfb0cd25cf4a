import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestApp, type TestAccount, type TestApp } from '../support/app.ts'

type Operation = {
  parameters?: { name: string; example?: string; examples?: Record<string, { value: string }> }[]
  requestBody?: { content: { 'application/json'?: { examples?: Record<string, { value: unknown }> } } }
}
type Document = { paths: Record<string, { post?: Operation }> }

/** What is right about these bodies cannot be known in advance, or too little time has passed. */
const REFUSED_FOR_A_REASON: Readonly<Record<string, string>> = {
  '/api/v2/verification/verify': 'VERIFICATION_CODE_INVALID',
  '/api/v2/verification/resend': 'RESEND_TOO_SOON',
}

let app: TestApp
let account: TestAccount
beforeAll(async () => {
  app = await startTestApp()
  account = await app.createAccount()
})
afterAll(() => app.stop())

test('every example of the OpenAPI document is accepted as it stands', async () => {
  const { paths } = (await app.call('/openapi.json', { key: null })).body as Document
  const tried: string[] = []
  for (const [path, { post }] of Object.entries(paths)) {
    const examples = post?.requestBody?.content['application/json']?.examples ?? {}
    const key = post?.parameters?.find(({ name }) => name === 'Idempotency-Key')
    for (const [name, { value }] of Object.entries(examples)) {
      // As the reference shows it beside this body.
      const idempotencyKey = key?.examples?.[name]?.value ?? key?.example
      const answer = await app.during(
        app.call(path, {
          method: 'POST',
          key: account.testKey,
          headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
          body: value,
        }),
      )
      const reason = REFUSED_FOR_A_REASON[path]
      if (reason === undefined)
        expect([200, 201, 202], `${path} ${name} ${answer.text}`).toContain(answer.status)
      else expect(answer.body['code'], path).toBe(reason)
      tried.push(path)
    }
  }
  expect(tried).toContain('/api/v2/messages/send')
  expect(new Set(tried).size).toBe(11)
})
