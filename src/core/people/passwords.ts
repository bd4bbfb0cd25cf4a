import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Problem } from '../../contract/errors.ts'
import type { Random } from '../../lib/random.ts'

/** Password hashes. Slow on purpose: an attacker with stolen hashes pays this for every guess. */
export type Passwords = {
  /** The hash to store, in PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
  hash(password: string): Promise<string>
  /**
   * Whether the password is right. Without a stored hash it takes as long and is false, so that the time
   * does not tell who has a login. Throws RATE_LIMITED where too many wait already; people in `known`
   * browsers have a queue of their own, which goes first.
   */
  verify(password: string, stored: string | null, known?: boolean): Promise<boolean>
}

/** OWASP's smallest setting for Argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456
const PASSES = 2
const LANES = 1
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Hashes computed at once: each takes MEMORY_KIB and a thread of libuv's pool. */
const MAX_CONCURRENT = 2
/** Longest queue: at some 100 ms each, the last one waits 1.5 s. */
const MAX_WAITING = 30

const derive = promisify(argon2)
const PHC_FORMAT = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

export function createPasswords({ random }: { random: Random }): Passwords {
  const runQueued = createQueue()
  /** A random hash that no password matches, to verify against where there is no login. */
  const dummyHash = formatHash(PARAMETERS, random.bytes(SALT_BYTES), random.bytes(HASH_BYTES))

  return {
    async hash(password) {
      const salt = random.bytes(SALT_BYTES)
      return formatHash(PARAMETERS, salt, await runQueued(true, () => deriveHash(password, salt, PARAMETERS)))
    },
    async verify(password, stored, known = false) {
      const { salt, parameters, hash } = parseHash(stored ?? dummyHash)
      const given = await runQueued(known, () => deriveHash(password, salt, parameters))
      return timingSafeEqual(given, hash) && stored !== null
    },
  }
}

type Parameters = { memory: number; passes: number; parallelism: number }

const PARAMETERS: Parameters = { memory: MEMORY_KIB, passes: PASSES, parallelism: LANES }

/** Unicode-normalises the password first, so that different encodings of the same letters are equal. */
function deriveHash(password: string, nonce: Buffer, parameters: Parameters): Promise<Buffer> {
  const message = password.normalize('NFKC')
  return derive('argon2id', { message, nonce, tagLength: HASH_BYTES, ...parameters })
}

function formatHash({ memory, passes, parallelism }: Parameters, salt: Buffer, hash: Buffer): string {
  const [s, h] = [salt, hash].map(bytes => bytes.toString('base64').replace(/=+$/, ''))
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${s}$${h}`
}

/** A stored hash and its own parameters, which may be older than the present ones. */
function parseHash(stored: string): { parameters: Parameters; salt: Buffer; hash: Buffer } {
  const parts = PHC_FORMAT.exec(stored)
  if (!parts) throw new Error('a stored password hash is not in the expected format')
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number]
  return {
    parameters: { memory, passes, parallelism },
    salt: Buffer.from(parts[4]!, 'base64'),
    hash: Buffer.from(parts[5]!, 'base64'),
  }
}

/** Runs MAX_CONCURRENT at a time; up to MAX_WAITING wait in each of two queues, others are refused. */
function createQueue(): <T>(known: boolean, work: () => Promise<T>) => Promise<T> {
  const knownQueue: (() => void)[] = []
  const queue: (() => void)[] = []
  let running = 0

  async function wait(waiting: (() => void)[]): Promise<void> {
    if (waiting.length >= MAX_WAITING) throw new Problem('RATE_LIMITED')
    await new Promise<void>(resolve => waiting.push(resolve))
  }

  return async (known, work) => {
    if (running >= MAX_CONCURRENT) await wait(known ? knownQueue : queue)
    else running++
    try {
      return await work()
    } finally {
      const next = knownQueue.shift() ?? queue.shift()
      if (next) next()
      else running--
    }
  }
}
