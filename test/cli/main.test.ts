import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDatabaseProxy } from '../faults/support/database-proxy.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts'
import { startMutePeer } from '../support/http-peer.ts'
import { lookUntil } from '../support/look-until.ts'

const BIN = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const PATH = process.env['PATH']

async function posthorn(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { out, err, code: code as number }
}

/** For what a shell does with the output. */
const POSTHORN = `"${process.execPath}" "${BIN}"`

function shell(command: string, env: Record<string, string> = {}) {
  return new Promise<{ out: string; err: string; code: number }>(resolve => {
    execFile('sh', ['-c', command], { env: { PATH, ...env } }, (error, out, err) =>
      resolve({ out, err, code: Number(error?.code ?? 0) }),
    )
  })
}

describe('the command line', () => {
  it('lists its commands', async () => {
    const { out, code } = await posthorn(['help'])
    expect(code).toBe(0)
    expect(out).toMatch(/^Usage: posthorn <command>/)
    expect(out).toMatch(/\n {2}serve +\S/)
  })

  it('rejects an unknown command', async () => {
    expect(await posthorn(['constructor'])).toEqual({
      out: '',
      err: 'posthorn: Unknown command "constructor": posthorn help lists all commands.\n',
      code: 2,
    })
    const { err, code } = await posthorn(['verify', 'nothing'])
    expect(err).toBe(
      'posthorn: Unknown command "verify nothing": the commands are verify start, verify resend, verify check.\n',
    )
    expect(code).toBe(2)
  })

  it.each(['serve', 'migrate', 'rotate-master-key'])('prints the usage of %s', async name => {
    const told = { out: `Usage: posthorn ${name}\n`, err: '', code: 0 }
    expect(await posthorn([name, '--help'])).toEqual(told)
  })

  it
    .skipIf(!existsSync('/dev/full'))
    .each([
      ['help'],
      ['--version'],
      ['verify', '--help'],
      ['serve', '--help'],
      ['verify', 'start', '--help'],
    ])('exits with 1 if its answer cannot be written: %s %s', async (...words) => {
    const { err, code } = await shell(`${POSTHORN} ${words.join(' ')} > /dev/full`)
    expect(err).toMatch(/^posthorn: Standard output cannot be written: ENOSPC/)
    expect(code).toBe(1)
  })

  it('tells wrong usage by its exit code where nobody reads why', async () => {
    expect(await shell(`{ ${POSTHORN} constructor 2>&1; echo $? >&3; } 3>&2 | true`)).toMatchObject({
      err: '2\n',
    })
  })

  it.each([
    ['verify', '--help'],
    ['verify', '-h'],
    ['help', 'verify'],
  ])('lists the commands of a group: %s %s', async (...words) => {
    const { out, err, code } = await posthorn(words)
    expect([err, code]).toEqual(['', 0])
    expect(out).toMatch(
      /^Usage: posthorn verify <command> \[options\]\n\n {2}verify start +\S.*\n {2}verify resend .*\n {2}verify check .*\n$/,
    )
  })

  it('prints the usage of a command after help, and rejects an unknown one', async () => {
    expect(await posthorn(['help', 'verify', 'check'])).toEqual(await posthorn(['verify', 'check', '--help']))
    expect(await posthorn(['help', 'migrate'])).toEqual({
      out: 'Usage: posthorn migrate\n',
      err: '',
      code: 0,
    })
    expect(await posthorn(['help', 'constructor'])).toEqual({
      out: '',
      err: 'posthorn: Unknown command "constructor": posthorn help lists all commands.\n',
      code: 2,
    })
  })

  it('reports all invalid settings in one line', async () => {
    const { out, err, code } = await posthorn(['serve'], { PORT: 'http', POSTHORN_SANDBOX: 'maybe' })
    expect([out, code]).toEqual(['', 2])
    expect(err).toMatch(/^posthorn: Wrong settings: PORT must .*; POSTHORN_SANDBOX must .*\n$/)
  })

  it('tells users of an older Node.js what to do, in syntax that it can parse', async () => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.1.0' }); require(${JSON.stringify(BIN)})`
    const child = spawn(process.execPath, ['-e', pretend], { stdio: ['ignore', 'ignore', 'pipe'] })
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    expect(err).toMatch(/^Posthorn needs Node\.js 24 or newer, .*npm start.*\n$/)
    expect(code).toBe(1)
  })
})

describe('posthorn migrate', () => {
  it('migrates to the end where nobody reads its progress', async () => {
    const store = await createEmptyDatabase()
    const env = { DATABASE_URL: store.url }
    const { out } = await shell(`{ ${POSTHORN} migrate 2>&1 >&3 | true; } 3>&1`, env)
    expect(out).toMatch(/^Applied 0001_accounts\.sql, /)
    expect((await shell(`${POSTHORN} migrate`, env)).out).toBe('The database is up to date.\n')
    await store.drop()
  })
})

describe('posthorn serve', () => {
  let store: TestDatabase
  let dataDir: string

  beforeEach(async () => {
    store = await createEmptyDatabase()
    dataDir = mkdtempSync(join(tmpdir(), 'posthorn-serve-'))
  })

  afterEach(async () => {
    await store.drop()
    rmSync(dataDir, { recursive: true })
  })

  function start(env: Record<string, string> = {}) {
    return spawn(process.execPath, [BIN, 'serve'], {
      env: { PATH, DATABASE_URL: store.url, POSTHORN_DATA_DIR: dataDir, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  function serve(env: Record<string, string> = {}) {
    const child = start(env)
    const lines: string[] = []
    const serving = (async () => {
      for await (const line of createInterface(child.stdout)) {
        lines.push(line)
        const url = /"url":"([^"]+)"/.exec(line)?.[1]
        if (url && line.includes('"serving"')) return url
      }
      throw new Error('it left before it served')
    })()
    return { child, lines, serving, exit: once(child, 'exit') as Promise<[number | null, string | null]> }
  }

  it.each([
    ['SIGTERM', 16, 'says nothing'],
    ['SIGINT', 15, 'warns'],
  ] as const)(
    'migrates an empty database, serves, and exits with 0 on %s; about a token of %i characters it %s',
    async (name, characters, does) => {
      const { child, lines, serving, exit } = serve({ POSTHORN_OPERATOR_TOKEN: 'x'.repeat(characters) })
      const ready = await fetch(`${await serving}/readyz`)
      expect(ready.status).toBe(200)
      const warned = lines.filter(line =>
        line.includes('POSTHORN_OPERATOR_TOKEN is short enough to be guessed'),
      )
      expect(warned).toHaveLength(does === 'warns' ? 1 : 0)
      child.stdout.resume()
      child.kill(name)
      expect(await exit).toEqual([0, null])
    },
  )

  it('exits with 0 at once when it is stopped while it waits for a database that does not answer', async () => {
    // It accepts connections and sends nothing, like a database behind a broken network.
    const mute = await startMutePeer()
    const { port } = new URL(mute.url)
    const { child, serving, exit } = serve({ DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none` })
    serving.catch(() => {})
    await mute.connected(1)
    child.kill('SIGTERM')
    // Reaching its deadline would end it with 1.
    expect(await exit).toEqual([0, null])
    await mute.close()
  })

  it('waits for a database that becomes unavailable during startup, and serves when it is back', async () => {
    const proxy = await startDatabaseProxy(store.url)
    const listens = proxy.loseAt('LISTEN', 'before')
    const { child, lines, serving, exit } = serve({ DATABASE_URL: proxy.url })
    await listens
    proxy.set('cut')
    const refused = async () => lines.filter(line => line.includes('not listening for changes')).length
    await lookUntil(refused, n => n > 2, 10_000)
    proxy.set('open')
    expect((await fetch(`${await serving}/readyz`)).status).toBe(200)
    child.stdout.resume()
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    await proxy.close()
  })

  it('serves although the reader of its progress has closed', async () => {
    const { child, serving, exit } = serve()
    child.stderr.destroy()
    expect((await fetch(`${await serving}/readyz`)).status).toBe(200)
    child.stdout.resume()
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  it('serves from two nodes that start at the same time on one empty database', async () => {
    const nodes = [serve(), serve()]
    for (const node of nodes) expect((await fetch(`${await node.serving}/readyz`)).status).toBe(200)
    for (const node of nodes) {
      node.child.stdout.resume()
      node.child.kill('SIGTERM')
      expect(await node.exit).toEqual([0, null])
    }
  })

  it('exits with a one-line message when its port is in use', async () => {
    const first = serve()
    const { port } = new URL(await first.serving)
    first.child.stdout.resume()
    const second = serve({ PORT: port })
    second.serving.catch(() => {})
    const [err, [code]] = await Promise.all([text(second.child.stderr), second.exit])
    expect(err).toContain(`posthorn: 127.0.0.1:${port} is in use: stop what listens there, or set PORT`)
    expect(code).toBe(1)
    first.child.kill('SIGTERM')
    expect(await first.exit).toEqual([0, null])
  })

  it('shows the test key at the first start that can listen', async () => {
    const holder = await startMutePeer()
    const { port } = new URL(holder.url)
    const refused = start({ PORT: port })
    expect(await text(refused.stdout)).not.toContain('ph_test_')
    await holder.close()
    const child = start()
    const lines: string[] = []
    for await (const line of createInterface(child.stdout)) {
      lines.push(line)
      if (line.includes('"serving"')) child.kill('SIGTERM')
    }
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}ph_test_\w+$/))
  })
})
