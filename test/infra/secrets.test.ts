import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ensureSecrets, type Secrets } from '../../src/infra/secrets.ts'
import { createRandom } from '../../src/lib/random.ts'

let parent: string
let dataDir: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'posthorn-secrets-'))
  dataDir = join(parent, 'data')
})

afterEach(() => rmSync(parent, { recursive: true }))

function ensure(given: Partial<Secrets> = {}): Secrets {
  return ensureSecrets({ dataDir, operatorToken: undefined, masterKey: undefined, ...given }, createRandom())
}

const SECRETS = fileURLToPath(new URL('../../src/infra/secrets.ts', import.meta.url))
const RANDOM = fileURLToPath(new URL('../../src/lib/random.ts', import.meta.url))
/** Sets the pid to 1, which every process that is alone in a container has. */
const PROGRAM = `
  Object.defineProperty(process, 'pid', { value: 1 })
  import { ensureSecrets } from ${JSON.stringify(SECRETS)}
  import { createRandom } from ${JSON.stringify(RANDOM)}
  const secrets = ensureSecrets({ dataDir: process.argv[1] }, createRandom())
  console.log(secrets.operatorToken, secrets.masterKey.toString('hex'))
`

/** The secrets that a separate process gets. */
async function ensureElsewhere(): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return output
}

describe('the secrets', () => {
  it('are created once, kept, and readable only by their owner', () => {
    const made = ensure()
    expect(made.operatorToken).toMatch(/^ph_op_[0-9A-Za-z]{43}$/)
    expect(made.masterKey).toHaveLength(32)
    expect(ensure()).toEqual(made)
    expect(readdirSync(dataDir).sort()).toEqual(['master-key', 'operator-token'])
    for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600)
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  })

  it('are different in each new data directory', () => {
    const made = ensure()
    rmSync(dataDir, { recursive: true })
    const again = ensure()
    expect(again.operatorToken).not.toBe(made.operatorToken)
    expect(again.masterKey).not.toEqual(made.masterKey)
  })

  it('are taken from the settings when given, and nothing is stored then', () => {
    const given = { operatorToken: 'mine', masterKey: Buffer.alloc(32, 1) }
    expect(ensure(given)).toEqual(given)
    expect(() => readdirSync(dataDir)).toThrow(/ENOENT/)
  })

  it('are the same for processes that start at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, ensureElsewhere))
    const { operatorToken, masterKey } = ensure()
    for (const output of all) expect(output).toBe(`${operatorToken} ${masterKey.toString('hex')}\n`)
    expect(readdirSync(dataDir).sort()).toEqual(['master-key', 'operator-token'])
  })

  it('are created without touching the unfinished file of a process with the same pid elsewhere', () => {
    mkdirSync(dataDir)
    const others = join(dataDir, `master-key.new-${process.pid}`)
    writeFileSync(others, 'half a key')
    ensure()
    expect(readFileSync(others, 'utf8')).toBe('half a key')
  })

  it.each(['operator-token', 'master-key'])('are not replaced when %s is damaged', name => {
    ensure()
    writeFileSync(join(dataDir, name), '')
    expect(() => ensure()).toThrow(new RegExp(`${name} does not contain a secret in Posthorn's format`))
    expect(readFileSync(join(dataDir, name), 'utf8')).toBe('')
  })
})
