import { afterAll, beforeAll } from 'vitest'
import type { Io, Link } from '../../src/channels/provider.ts'
import { createSandboxProvider } from '../../src/channels/sandbox.ts'
import type { SandboxInbox } from '../../src/contract/sandbox-inbox.ts'
import { createSandboxInbox } from '../../src/core/sandbox/store.ts'
import { createDatabase, type Database } from '../../src/infra/db.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Behaviour, describeProvider, never, outgoing, type Peer } from './conformance.ts'

let database: TestDatabase
/** A closed pool: every query of it fails. */
let closedDatabase: Database
beforeAll(async () => {
  database = await createTestDatabase()
  closedDatabase = createDatabase({ connectionString: database.url })
  await closedDatabase.close()
})
afterAll(() => database.drop())

const RECIPIENTS: Partial<Record<Behaviour, string>> = {
  reject: 'ph-0002@example.com',
  throttle: 'ph-0006@example.com',
  'temporary-failure': 'ph-0003@example.com',
  silent: 'ph-0005@example.com',
}

/** The inbox is the peer: a message that it has stored counts as submitted. */
function countingInbox(inner: SandboxInbox): {
  inbox: SandboxInbox
  taken(count: number): Promise<void>
  takes(): number
} {
  const waiting: { count: number; resolve(): void }[] = []
  let takes = 0
  return {
    inbox: {
      ...inner,
      async store(message) {
        await inner.store(message)
        takes++
        for (const one of waiting) if (takes >= one.count) one.resolve()
      },
    },
    taken: count =>
      new Promise(resolve => {
        if (takes >= count) resolve()
        else waiting.push({ count, resolve })
      }),
    takes: () => takes,
  }
}

async function open(behaviour: Behaviour, io: Io): Promise<{ link: Link; peer: Peer }> {
  const db = behaviour === 'refuse-connection' ? closedDatabase : database.db
  const { inbox, taken, takes } = countingInbox(createSandboxInbox({ db }))
  const opened = await createSandboxProvider({ inbox }).open({}, io)
  const to = RECIPIENTS[behaviour]
  const link: Link = to
    ? { ...opened, send: (message, signal) => opened.send({ ...message, to }, signal) }
    : opened
  const none = async () => {}
  const early = outgoing(999, { to: 'ph-0007@example.com' })
  return {
    link,
    peer: {
      connected: none,
      submitted: taken,
      submits: takes,
      idle: none,
      inbound: () => opened.send(early, never()),
      close: none,
    },
  }
}

describeProvider<Record<string, unknown>>('sandbox', {
  provider: createSandboxProvider({ inbox: {} as SandboxInbox }),
  config: {},
  secrets: [],
  open,
  notApplicable: {
    'reset-after-submit': 'a failed write is repeated, since the inbox stores each message once',
    'garbage-answer': 'there is no network connection',
    'slow-connect': 'no connection is established',
  },
})
