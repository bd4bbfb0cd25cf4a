import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../lib/random.ts'
import { Refusal } from '../lib/refusal.ts'
import { makeDirectory } from './make-directory.ts'

/** What opens the admin API and what seals the store's secrets. */
export type Secrets = { operatorToken: string; masterKey: Buffer }

/** The settings win; what they leave out is made once and kept in the data directory. */
export type SecretSettings = {
  dataDir: string
  operatorToken: string | undefined
  masterKey: Buffer | undefined
}

/** Below the data directory. */
export const OPERATOR_TOKEN_FILE = 'operator-token'

const TOKEN = /^ph_op_[0-9A-Za-z]{43}$/
const KEY = /^[0-9a-f]{64}$/

/**
 * Returns both secrets, making those that exist nowhere yet: files that only
 * their owner may read. Of processes that start at once all get the same.
 * Refuses a file that holds something else.
 */
export function ensureSecrets(settings: SecretSettings, random: Random): Secrets {
  const { dataDir, operatorToken, masterKey } = settings
  return {
    operatorToken:
      operatorToken ?? keep(dataDir, OPERATOR_TOKEN_FILE, TOKEN, random, () => createToken(random)),
    masterKey:
      masterKey ??
      Buffer.from(
        keep(dataDir, 'master-key', KEY, random, () => random.bytes(32).toString('hex')),
        'hex',
      ),
  }
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TOKEN_DIGITS = 43

/** 43 digits of base 62: 256 bits. */
function createToken(random: Random): string {
  let token = 'ph_op_'
  while (token.length < 'ph_op_'.length + TOKEN_DIGITS) {
    for (const byte of random.bytes(TOKEN_DIGITS)) {
      // Beyond 248 = 4 × 62 the first digits would be likelier than the others.
      if (byte < 248 && token.length < 'ph_op_'.length + TOKEN_DIGITS) token += DIGITS[byte % 62]
    }
  }
  return token
}

function keep(dataDir: string, name: string, shape: RegExp, random: Random, create: () => string): string {
  const file = join(dataDir, name)
  const kept = readKept(file) ?? publish(file, create(), random)
  if (shape.test(kept)) return kept
  throw new Refusal(
    `${file} does not hold what Posthorn wrote there: restore it from a backup (without the old key nothing sealed can be opened).`,
  )
}

function readKept(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(file, error)
  }
}

const UNIQUE_BYTES = 8

/**
 * Written whole beside its place, then linked into it: a link fails when the
 * name exists, so the first of several wins and nobody reads half a secret. Each writes under a
 * name of its own; a process's number is none, since in containers all have the same.
 */
function publish(file: string, secret: string, random: Random): string {
  const making = `${file}.new-${random.bytes(UNIQUE_BYTES).toString('hex')}`
  try {
    makeDirectory(dirname(file), 0o700)
    writeFileSync(making, `${secret}\n`, { mode: 0o600, flush: true })
    linkSync(making, file)
    return secret
  } catch (error) {
    const winner = (error as NodeJS.ErrnoException).code === 'EEXIST' ? readKept(file) : undefined
    if (winner !== undefined) return winner
    throw unusable(file, error)
  } finally {
    rmSync(making, { force: true })
  }
}

function unusable(file: string, cause: unknown): Refusal {
  const { code } = cause as NodeJS.ErrnoException
  return new Refusal(
    `${file} cannot be read or written (${code}): check the permissions of the data directory, or set POSTHORN_OPERATOR_TOKEN and POSTHORN_MASTER_KEY.`,
    { cause },
  )
}
