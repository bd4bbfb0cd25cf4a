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

/** Encrypts what must be kept and read again, and hashes what must only be recognised. */
export type Seal = {
  /**
   * AES-256-GCM. `context` (such as `connection:cnn_…`) is bound in: a sealed
   * value opens only for the place it was sealed for.
   */
  seal(plain: Buffer | string, context: string): Buffer
  /** The plain bytes. Throws SealBroken for another key, another context, or a changed byte. */
  open(sealed: Buffer, context: string): Buffer
  /** Keyed HMAC-SHA256, for secrets with too few values to be hashed plainly, such as codes. */
  hashSecret(text: string): Buffer
}

/** A seal with what the change of its master key needs. */
export type MasterSeal = Seal & {
  /** Stands at the second byte of whatever it seals now; four bytes. */
  keyId: Buffer
  /** Whether the newest key sealed this. */
  isNewest(sealed: Buffer): boolean
  /** What `hashSecret` hashed by under the master key that sealed this, before a store kept that itself. */
  hashKeyOf(sealed: Buffer): Buffer
  /** Hashes by this from now on: hashes that are kept outlive the master key. */
  hashBy(key: Buffer): void
}

/** A sealed value that this key and context do not open. */
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
/** Two of these share a nonce once in 2^65 keys. */
const VALUES_A_KEY = 65_536
const CIPHER = 'aes-256-gcm'
/** Of SHA-256. */
const BLOCK_BYTES = 64

type MasterKey = { sealKey: Buffer; hashKey: Buffer; id: Buffer }

/** `masterKey`: 32 bytes; every key in use is derived from it. `previous` is another one that opens, and seals nothing. */
export function createSeal(masterKey: Buffer, random: Random, previous?: Buffer): MasterSeal {
  const newest = unfold(masterKey)
  const masters = previous === undefined ? [newest] : [newest, unfold(previous)]
  const keyId = newest.id
  let hmac = createHmacOf(newest.hashKey)
  let fresh: { salt: Buffer; key: KeyObject; left: number } = nextKey()

  function keyOf(salt: Buffer, { sealKey } = newest): KeyObject {
    return createSecretKey(createHmac('sha256', sealKey).update(salt).digest())
  }

  function masterOf(sealed: Buffer): MasterKey {
    if (sealed.length < TEXT_AT + TAG_BYTES || sealed[0] !== VERSION) throw new SealBroken('unknown format')
    const master = masters.find(({ id }) => id.equals(sealed.subarray(KEY_ID_AT, SALT_AT)))
    if (!master) throw new SealBroken('another master key sealed it')
    return master
  }

  function nextKey() {
    const salt = random.bytes(NONCE_AT - SALT_AT)
    return { salt, key: keyOf(salt), left: VALUES_A_KEY }
  }

  /**
   * A new key every so many values: 28 random bytes decide, not GCM's 12, so that
   * the number of values sealed under one master key needs no limit. Not for every
   * value, since making a key takes longer (10 µs) than sealing a line of text with it.
   */
  function sealingKey(): { salt: Buffer; key: KeyObject } {
    if (fresh.left-- === 0) fresh = { ...nextKey(), left: VALUES_A_KEY - 1 }
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

function unfold(masterKey: Buffer): MasterKey {
  if (masterKey.length !== 32) throw new RangeError('A master key has 32 bytes.')
  return {
    sealKey: derive(masterKey, 'posthorn/seal/1'),
    hashKey: derive(masterKey, 'posthorn/hash/1'),
    // Says which key sealed a value without saying anything about the key.
    id: createHash('sha256').update(derive(masterKey, 'posthorn/key-id')).digest().subarray(0, 4),
  }
}

/**
 * HMAC-SHA256 as RFC 2104 spells it, from two hashes: an Hmac of Node's takes twice as long to
 * make (3.5 µs), and leaves an object behind that the collector has to finalize.
 */
function createHmacOf(key: Buffer): (text: string) => Buffer {
  const inner = padded(key, 0x36)
  const outer = padded(key, 0x5c)
  const sha256 = (head: Buffer, rest: Buffer) => hash('sha256', Buffer.concat([head, rest]), 'hex')
  return text => Buffer.from(sha256(outer, Buffer.from(sha256(inner, Buffer.from(text)), 'hex')), 'hex')
}

/** The key at the length of a block, each byte of it turned by `pad`. */
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
