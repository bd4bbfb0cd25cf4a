import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TemplateView } from '../../../src/contract/template.ts'
import { toUuid } from '../../../src/lib/ids.ts'
import { startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { createTemplateCalls } from './support.ts'

let app: TestApp
beforeAll(async () => {
  app = await startTestApp()
})
afterAll(() => app.stop())

/** An account with so many e-mail templates of 100 kB each; the oldest, of a few bytes, is called `oldest`. */
async function createOwner(count: number): Promise<{ account: TestAccount; oldest: string }> {
  const account = await app.createAccount()
  const { id } = await createTemplateCalls(app, account).made({
    name: 'oldest',
    category: 'email',
    subType: 'utility',
    emailSubject: 'News',
    content: 'Dear {{1}}',
  })
  const { rowCount } = await app.db.query({
    name: 'fill_templates',
    text: `insert into templates (account_id, id, name, category, sub_type, language, provider, status, spec, compiled)
      select account_id, uuid_at(now()), 'n_' || translate(n::text, '0123456789', 'abcdefghij'), category, sub_type, language,
             provider, status, replace(spec::text, 'Dear', repeat('x', 100000))::json, compiled
        from templates, generate_series(1, $2) n where id = $1`,
    values: [toUuid(id as `tpl_${string}`), count],
  })
  expect(rowCount).toBe(count)
  return { account, oldest: id }
}

function requestList({ liveKey }: TestAccount): Promise<Response> {
  return fetch(`${app.url}/api/v2/templates`, { headers: { 'X-API-Key': liveKey } })
}

async function readList(response: Response): Promise<TemplateView[]> {
  expect(response.status).toBe(200)
  const body = (await response.json()) as { data: TemplateView[] }
  expect(Object.keys(body)).toEqual(['data'])
  return body.data
}

describe('the list of all templates', () => {
  test('is whole and in order for each of eight that ask at once', async () => {
    const { account } = await createOwner(40)
    const asked = Array.from({ length: 8 }, async () => readList(await requestList(account)))
    const [first, ...others] = await Promise.all(asked)
    const ids = first!.map(({ id }) => id)
    expect(ids).toHaveLength(41)
    expect(ids).toEqual([...new Set(ids)].sort().reverse())
    expect(first!.at(-1)).toMatchObject({ name: 'oldest', content: 'Dear {{1}}', parameters: [null] })
    expect(first![0]).toMatchObject({
      content: `${'x'.repeat(100_000)} {{1}}`,
      indexedPlaceholders: ['{{1}}'],
    })
    for (const other of others) expect(other).toEqual(first)
  })

  test('is read only as fast as its client takes it', async () => {
    const { account, oldest } = await createOwner(300)
    const response = await requestList(account)
    // The client has read nothing but the headers; 30 MB do not fit into the buffers of a connection.
    expect((await createTemplateCalls(app, account).call('DELETE', `/${oldest}`)).status).toBe(200)
    const names = (await readList(response)).map(({ name }) => name)
    expect(names).toHaveLength(300)
    expect(names).not.toContain('oldest')
  })

  test('is cut, and the log says why, when the store fails in the middle', async () => {
    const { account } = await createOwner(300)
    const response = await requestList(account)
    const rename = (from: string, to: string) =>
      app.db.query({ name: `rename_${from}`, text: `alter table ${from} rename to ${to}` })
    await rename('templates', 'no_templates')
    await expect(response.text()).rejects.toThrow('terminated')
    await rename('no_templates', 'templates')
    const told = app.log.map(line => JSON.parse(line)).filter(line => line.message.includes('was cut'))
    expect(told).toEqual([
      expect.objectContaining({
        level: 'warn',
        requestId: response.headers.get('x-request-id'),
        route: '/api/v2/templates',
        reason: expect.stringContaining('templates'),
      }),
    ])
  })

  test('comes in pages of several megabytes where a limit is given', async () => {
    const { account } = await createOwner(25)
    const { call } = createTemplateCalls(app, account)
    const first = await call('GET', '?limit=20')
    const next = await call('GET', `?limit=20&cursor=${first.body['nextCursor']}`)
    const rows = [first, next].flatMap(({ body }) => body['data'] as TemplateView[])
    expect(rows).toHaveLength(26)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(26)
    expect(next.body['nextCursor']).toBeNull()
  })
})
