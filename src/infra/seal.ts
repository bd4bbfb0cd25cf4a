import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import type { Random } from '../lib/random.ts'

/** Encrypts values that must be read again, and hashes values that need only be compared. */
export type Seal = {
  /**
   * Encrypts with AES-256-GCM. `context` (such as `connection:cnn_…`) is authenticated: a sealed value can be
   * opened only with the same context.
   */
  seal(plain: Buffer | string, context: string): Buffer
  /** Decrypts. Throws SealBroken for another key, another context, or a changed value. */
  open(sealed: Buffer, context: string): Buffer
  /** HMAC-SHA256, for secrets with so few possible values that a plain hash could be reversed, such as codes. */
  hashSecret(text: string): Buffer
}

/** A seal with what changing the master key needs. */
export type MasterSeal = Seal & {
  /** The id of the newest key, four bytes, at offset 1 of each value that it seals. */
  keyId: Buffer
  /** Whether this value was sealed with the newest key. */
  isNewest(sealed: Buffer): boolean
  /**
   * The hash key that is derived from the master key that sealed this: `hashSecret` used it before databases
   * kept a hash key of their own.
   */
  hashKeyOf(sealed: Buffer): Buffer
  /** Sets the key of `hashSecret`: stored hashes outlive the master key. */
  hashBy(key: Buffer): void
}

/** A sealed value that cannot be opened with these keys and this context. */
export class SealBroken extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`A sealed value cannot be opened: ${reason}.`, options)
    this.name = 'SealBroken'
  }
}

// version (1) · key id (4) · salt (16) · nonce (12) · ciphertext · tag (16)
const VERSION = 1
const KEY_ID_AT = 1
const SALT_AT = 5
const NONCE_AT = 21
const TEXT_AT = 33
const TAG_BYTES = 16
/** Values that are sealed with one derived key: a nonce repeats within so many once in 2^65 keys. */
const VALUES_PER_KEY = 65_536
const CIPHER = 'aes-256-gcm'
/** The block size of SHA-256. */
const BLOCK_BYTES = 64

type MasterKey = { sealKey: Buffer; hashKey: Buffer; id: Buffer }

/** `masterKey`: 32 bytes; all keys are derived from it. `previous` is an older master key, used only to open. */
export function createSeal(masterKey: Buffer, random: Random, previous?: Buffer): MasterSeal {
  const newest = deriveKeys(masterKey)
  const masters = previous === undefined ? [newest] : [newest, deriveKeys(previous)]
  const keyId = newest.id
  let hmac = createHmacOf(newest.hashKey)
  let fresh: { salt: Buffer; key: KeyObject; left: number } = nextKey()

  function keyOf(salt: Buffer, { sealKey } = newest): KeyObject {
    return createSecretKey(createHmac('sha256', sealKey).update(salt).digest())
  }

  function masterOf(sealed: Buffer): MasterKey {
    if (sealed.length < TEXT_AT + TAG_BYTES || sealed[0] !== VERSION) throw new SealBroken('unknown format')
    const master = masters.find(({ id }) => id.equals(sealed.subarray(KEY_ID_AT, SALT_AT)))
    if (!master) throw new SealBroken('it was sealed under another master key')
    return master
  }

  function nextKey() {
    const salt = random.bytes(NONCE_AT - SALT_AT)
    return { salt, key: keyOf(salt), left: VALUES_PER_KEY }
  }

  /**
   * Derives a new key every VALUES_PER_KEY values: so 28 random bytes (salt and nonce) make a value unique, and
   * not GCM's 12, and the number of values per master key needs no limit. Not for each value, since deriving
   * a key (10 µs) takes longer than sealing a line of text.
   */
  function sealingKey(): { salt: Buffer; key: KeyObject } {
    if (fresh.left-- === 0) fresh = { ...nextKey(), left: VALUES_PER_KEY - 1 }
    return fresh
  }

  return {
    seal(plain, context) {
      const { salt, key } = sealingKey()
      const head = Buffer.concat([Buffer.of(VERSION), keyId, salt, random.bytes(TEXT_AT - NONCE_AT)])
      const cipher = createCipheriv(CIPHER, key, head.subarray(NONCE_AT))
      cipher.setAAD(boundTo(head, context))
      const text = [cipher.update(typeof plain === 'string' ? Buffer.from(plain) : plain), cipher.final()]
      return Buffer.concat([head, ...text, cipher.getAuthTag()])
    },
    open(sealed, context) {
      const master = masterOf(sealed)
      const head = sealed.subarray(0, TEXT_AT)
      const key = keyOf(head.subarray(SALT_AT, NONCE_AT), master)
      const decipher = createDecipheriv(CIPHER, key, head.subarray(NONCE_AT), { authTagLength: TAG_BYTES })
      decipher.setAAD(boundTo(head, context))
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(sealed.subarray(TEXT_AT, -TAG_BYTES)), decipher.final()])
      } catch (cause) {
        throw new SealBroken('it was changed, or sealed for another place', { cause })
      }
    },
    hashSecret: text => hmac(text),
    keyId,
    isNewest: sealed => sealed.subarray(KEY_ID_AT, SALT_AT).equals(keyId),
    hashKeyOf: sealed => masterOf(sealed).hashKey,
    hashBy(key) {
      hmac = createHmacOf(key)
    },
  }
}

function deriveKeys(masterKey: Buffer): MasterKey {
  if (masterKey.length !== 32) throw new RangeError('A master key must have 32 bytes.')
  return {
    sealKey: derive(masterKey, 'posthorn/seal/1'),
    hashKey: derive(masterKey, 'posthorn/hash/1'),
    // Identifies the key without revealing anything of it.
    id: createHash('sha256').update(derive(masterKey, 'posthorn/key-id')).digest().subarray(0, 4),
  }
}

/**
 * HMAC-SHA256 (RFC 2104) from two hashes: Node's Hmac object takes twice as long to create (3.5 µs), and must
 * be finalized by the garbage collector.
 */
function createHmacOf(key: Buffer): (text: string) => Buffer {
  const inner = padded(key, 0x36)
  const outer = padded(key, 0x5c)
  const sha256 = (head: Buffer, rest: Buffer) => hash('sha256', Buffer.concat([head, rest]), 'hex')
  return text => Buffer.from(sha256(outer, Buffer.from(sha256(inner, Buffer.from(text)), 'hex')), 'hex')
}

/** The key padded to a block with zeros, each byte XORed with `pad`. */
function padded(key: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES, pad)
  key.forEach((byte, at) => {
    block[at] = byte ^ pad
  })
  return block
}

function derive(masterKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), purpose, 32))
}

function boundTo(head: Buffer, context: string): Buffer {
  return Buffer.concat([head, Buffer.from(context)])
}
