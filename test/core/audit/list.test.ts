import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuditLog } from '../../../src/core/audit/audit-log.ts'
import { createIds, fromUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

/** More rows than two statements read. */
const MANY = 45_000
const ACTOR = '00000000-0000-7000-8000-000000000001'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await database.db.query({
    name: 't_many',
    text: `insert into audit_log (account_id, id, actor_type, actor_id, actor_name, action, target, changes, request_id)
      select '00000000-0000-0000-0000-000000000000', first_uuid_at('2026-11-01T00:00:00Z'::timestamptz + n * interval '1 second'),
             'user', case when n = 1 then '${ACTOR}'::uuid else gen_random_uuid() end, 'Ann',
             case when n = 1 then 'price.replace' else 'session.create' end, n::text, '{}', gen_random_uuid()
        from generate_series(1, ${MANY}) n`,
    timeoutMs: 60_000,
  })
}, 120_000)
afterAll(() => database.drop())

test.each([
  ['action', { action: 'price' }],
  ['actor', { actorId: fromUuid('usr', ACTOR) }],
  ['action of the platform', { action: 'price', accountId: 'platform' }],
])(
  'a search by a rare %s ends when its page takes too long, and the next page continues it',
  async (_, filter) => {
    let nowMs = 0
    const clock = { monotonic: () => (nowMs += 1_000) }
    const ids = createIds(createFakeClock(), createRandom())
    const log = createAuditLog({ db: database.db, clock, ids, log: { warn() {} } })
    const targets: (string | null)[][] = []
    let cursor: string | undefined
    do {
      const page = await log.listAll({ ...filter, limit: 50, ...(cursor !== undefined && { cursor }) })
      targets.push(page.data.map(({ target }) => target))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(targets).toEqual([[], [], ['1']])
    expect((await log.listAll({ limit: 50 })).data).toHaveLength(50)
  },
)
