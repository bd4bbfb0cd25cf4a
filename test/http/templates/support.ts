import { expect } from 'vitest'
import type { TemplateView } from '../../../src/contract/template.ts'
import { type Answer, faultPaths, type TestAccount, type TestApp } from '../../support/app.ts'

export type TemplateCalls = ReturnType<typeof createTemplateCalls>

/** The templates of an account over HTTP. */
export function createTemplateCalls(app: TestApp, account: TestAccount, key = account.liveKey) {
  const call = (method: string, path: string, body?: unknown) =>
    app.call(`/api/v2/templates${path}`, { method, key, ...(body !== undefined && { body }) })

  async function made(body: unknown): Promise<TemplateView> {
    const answer = await call('POST', '', body)
    expect(answer.status, answer.text).toBe(201)
    return (answer.body['data'] as { template: TemplateView }).template
  }

  async function read(id: string): Promise<TemplateView> {
    const answer = await call('GET', `/${id}`)
    expect(answer.status, answer.text).toBe(200)
    return answer.body['data'] as TemplateView
  }

  return {
    call,
    create: (body: unknown) => call('POST', '', body),
    made,
    read,
    async list(query = ''): Promise<TemplateView[]> {
      const answer = await call('GET', query)
      expect(answer.status, answer.text).toBe(200)
      return answer.body['data'] as TemplateView[]
    },
    /** Waits until the provider has decided on it. */
    decided: (id: string) =>
      app.until(
        () => read(id),
        ({ status }) => status !== 'pending',
      ),
    async count(): Promise<number> {
      const { rows } = await app.db.query<{ count: number }>({
        name: 'count_templates',
        text: `select (select count(*) from templates)::integer + (select count(*) from template_claims)::integer as count`,
      })
      return rows[0]!.count
    },
  }
}

export const SMS = {
  name: 'order_update',
  category: 'sms',
  subType: 'utility',
  content: 'Order {{1}} is {{2}}.',
}
export const OFFICIAL = {
  name: 'order_update',
  category: 'chatapp',
  subType: 'utility',
  language: 'en',
  body: 'Order {{1}} is {{2}}.',
  bodyParameters: [
    { index: 1, label: '4711' },
    { index: 2, label: 'on its way' },
  ],
}

/** Expects an error that names these fields, and that no template was stored. */
export async function refusedAt(
  templates: TemplateCalls,
  body: unknown,
  paths: string[],
  expected = { status: 400, code: 'VALIDATION_ERROR' },
): Promise<Answer> {
  const before = await templates.count()
  const answer = await templates.create(body)
  expect([answer.status, answer.body['code']], answer.text).toEqual([expected.status, expected.code])
  expect(faultPaths(answer).toSorted(), answer.text).toEqual(paths.toSorted())
  expect(await templates.count()).toBe(before)
  return answer
}
