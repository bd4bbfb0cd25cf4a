import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { createAccount, send } from './support/client.ts'
import { type Posthorn, startPosthorn } from './support/posthorn.ts'

let database: TestDatabase
let dataDir: string
let nodes: Posthorn[]

beforeEach(async () => {
  database = await createEmptyDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'posthorn-outgrown-'))
  nodes = await Promise.all([startNode(), startNode()])
}, 60_000)
afterEach(async () => {
  await Promise.all(nodes.map(node => node.kill()))
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

function startNode(): Promise<Posthorn> {
  return startPosthorn({ DATABASE_URL: database.url, POSTHORN_DATA_DIR: dataDir })
}

test.each([
  [
    'it has a migration file unknown to the nodes',
    `insert into migrations (name, checksum) values ('9999_of_tomorrow.sql', '')`,
    '9999_of_tomorrow.sql',
  ],
  [
    'it has another version of a function',
    `update migration_functions set checksum = '', version = '9999.0.0' where name = 'settle_attempts.sql'`,
    'functions/settle_attempts.sql',
  ],
])(
  'nodes exit cleanly, with one line of error, when a newer version migrates their database: %s',
  async (_what, text, name) => {
    const account = await createAccount(nodes[0]!.url, { balance: 100 })
    // The sandbox delays it by five seconds, while this node holds it.
    const body = { to: '+12025550006', text: 'later' }
    expect((await send(nodes[0]!.url, { account, body, key: 'later' }))?.status).toBe(200)
    await database.db.query({ name: 't_newer', text })
    const ends = await Promise.all(nodes.map(node => node.ended()))
    const words = `posthorn: The database was migrated by another Posthorn while this one ran (it has ${name}): start that version.`
    expect(ends).toEqual([
      { code: 1, words },
      { code: 1, words },
    ])
    for (const { log } of nodes) {
      expect(log.at(-1)).toMatchObject({ message: 'stopped' })
      expect(log.filter(({ level }) => level === 'fatal')).toHaveLength(1)
    }
    // They have removed their leases, and the message that one held is free for the next node.
    const { rows } = await database.db.query({
      name: 't_left',
      text: 'select (select count(*) from nodes) as nodes, owner, begun from outbox',
    })
    expect(rows).toEqual([{ nodes: 0, owner: null, begun: false }])
  },
  60_000,
)
