import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { timed } from '../support/timed.ts'
import { type Account, admin, createAccount, send, sendUntilSent } from './support/client.ts'
import { findEmbedded, type Posthorn, startPosthorn } from './support/posthorn.ts'

/** The promised maximum time to stop after a signal. */
const STOPPED_MS = 10_000

let dir: string
let smsc: Smsc
let node: Posthorn
let account: Account
/** Stopped, which it stays if the test fails. */
let checkpointer: number | null = null

const start = () => startPosthorn({ POSTHORN_DATA_DIR: join(dir, 'data'), POSTHORN_SANDBOX: 'off' })

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'posthorn-checkpoint-'))
  smsc = await startSmsc('accept')
  node = await start()
  await admin(node.url, 'POST', '/connections', {
    provider: 'smpp',
    name: 'centre',
    channels: ['local_sms'],
    config: {
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'posthorn',
      password: 'secret',
      responseTimeoutMs: 60_000,
    },
  })
  account = await createAccount(node.url, { balance: 100 })
  await sendUntilSent(node.url, textRequest('hello'))
}, 60_000)
afterEach(async () => {
  endCheckpointer()
  await node.stop()
  const left = findEmbedded(join(dir, 'data'))
  if (left) process.kill(left.pid, 'SIGKILL')
  await smsc.close()
  rmSync(dir, { recursive: true, force: true })
})

const textRequest = (text: string) => ({
  account,
  key: text,
  body: { to: '+12025550199', channel: 'local_sms', content: { text } },
})

function endCheckpointer(): void {
  if (checkpointer !== null) process.kill(checkpointer, 'SIGKILL')
  checkpointer = null
}

/** The checkpointer of a server, by the list of processes. */
function findCheckpointer(postmaster: number): number {
  const pids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  const found = pids.find(pid => {
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('checkpointer') &&
        readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1] === String(postmaster)
      )
    } catch {
      // It has ended in the meantime.
      return false
    }
  })
  return Number(found)
}

test.runIf(process.platform === 'linux')(
  'a stop ends with 0 in time, also if the provider hangs and the last checkpoint of the database does not end',
  async () => {
    smsc.behave('silent')
    const before = smsc.submits.length
    const sending = send(node.url, textRequest('hung'))
    await smsc.submitted(before + 1)
    checkpointer = findCheckpointer(findEmbedded(join(dir, 'data'))!.pid)
    process.kill(checkpointer, 'SIGSTOP')
    const { value: code, tookMs } = await timed(node.stop())
    expect(code).toBe(0)
    expect(tookMs).toBeLessThan(STOPPED_MS)
    expect((await sending)?.status).toBe(200)
    endCheckpointer()
    node = await start()
    expect(await send(node.url, textRequest('hello'))).toMatchObject({ status: 200, replayed: true })
  },
  60_000,
)
