import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../lib/random.ts'
import { Refusal } from '../lib/refusal.ts'
import { makeDirectory } from './make-directory.ts'

/** The token of the admin API, and the key that encrypts the database's secrets. */
export type Secrets = { operatorToken: string; masterKey: Buffer }

/** Secrets from the settings; those that are undefined are created once and kept in the data directory. */
export type SecretSettings = {
  dataDir: string
  operatorToken: string | undefined
  masterKey: Buffer | undefined
}

/** In the data directory. */
export const OPERATOR_TOKEN_FILE = 'operator-token'

const TOKEN = /^ph_op_[0-9A-Za-z]{43}$/
const KEY = /^[0-9a-f]{64}$/

/**
 * Returns both secrets; creates missing ones, in files that only their owner may read. Processes that start
 * concurrently get the same secrets. Throws a Refusal for a file with another content.
 */
export function ensureSecrets(settings: SecretSettings, random: Random): Secrets {
  const { dataDir, operatorToken, masterKey } = settings
  return {
    operatorToken:
      operatorToken ?? loadOrCreate(dataDir, OPERATOR_TOKEN_FILE, TOKEN, random, () => createToken(random)),
    masterKey:
      masterKey ??
      Buffer.from(
        loadOrCreate(dataDir, 'master-key', KEY, random, () => random.bytes(32).toString('hex')),
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
      // From 248 = 4 × 62 on, the first digits would be more likely than others.
      if (byte < 248 && token.length < 'ph_op_'.length + TOKEN_DIGITS) token += DIGITS[byte % 62]
    }
  }
  return token
}

function loadOrCreate(
  dataDir: string,
  name: string,
  shape: RegExp,
  random: Random,
  create: () => string,
): string {
  const file = join(dataDir, name)
  const kept = readSecretFile(file) ?? writeSecretFile(file, create(), random)
  if (shape.test(kept)) return kept
  throw new Refusal(
    `${file} does not contain a secret in Posthorn's format: restore it from a backup (without the old key, encrypted data cannot be decrypted).`,
  )
}

function readSecretFile(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(file, error)
  }
}

const UNIQUE_BYTES = 8

/**
 * Writes the file under a temporary name, then links it to its name: that fails if the name exists, so the
 * first of several processes wins and none reads a partial secret. The temporary name is random, since
 * process ids may be the same in several containers.
 */
function writeSecretFile(file: string, secret: string, random: Random): string {
  const making = `${file}.new-${random.bytes(UNIQUE_BYTES).toString('hex')}`
  try {
    makeDirectory(dirname(file), 0o700)
    writeFileSync(making, `${secret}\n`, { mode: 0o600, flush: true })
    linkSync(making, file)
    return secret
  } catch (error) {
    const winner = (error as NodeJS.ErrnoException).code === 'EEXIST' ? readSecretFile(file) : undefined
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
