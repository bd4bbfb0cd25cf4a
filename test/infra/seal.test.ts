import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSeal, SealBroken } from '../../src/infra/seal.ts'
import { createRandom } from '../../src/lib/random.ts'

const key = Buffer.alloc(32, 7)
const seal = createSeal(key, createRandom())

describe('seal', () => {
  it('opens any bytes that it sealed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.string(), (bytes, context) => {
        const plain = Buffer.from(bytes)
        expect(seal.open(seal.seal(plain, context), context)).toEqual(plain)
      }),
    )
  })

  it('encodes text as UTF-8', () => {
    expect(seal.open(seal.seal('grün 🟢', 'a'), 'a').toString()).toBe('grün 🟢')
  })

  it('gives different bytes each time, without the plain text', () => {
    const sealed = seal.seal('a long enough secret', 'a')
    expect(sealed.includes('a long enough secret')).toBe(false)
    expect(seal.seal('a long enough secret', 'a').equals(sealed)).toBe(false)
  })

  it('derives a new key, from a new salt, after 65,536 values', () => {
    const busy = createSeal(key, createRandom())
    const saltOf = (sealed: Buffer) => sealed.subarray(5, 21).toString('hex')
    const sealNext = () => busy.seal('x', 'here')
    const first = saltOf(sealNext())
    const others = new Set(Array.from({ length: 65_535 }, () => saltOf(sealNext())))
    expect(others).toEqual(new Set([first]))
    const renewed = sealNext()
    expect(saltOf(renewed)).not.toBe(first)
    expect(busy.open(renewed, 'here').toString()).toBe('x')
  })

  it('rejects every changed, missing or added byte', () => {
    const sealed = seal.seal('secret', 'here')
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed)
      changed[at]! ^= 1
      expect(() => seal.open(changed, 'here')).toThrow(SealBroken)
      expect(() => seal.open(sealed.subarray(0, at), 'here')).toThrow(SealBroken)
    }
    expect(() => seal.open(Buffer.concat([sealed, Buffer.of(0)]), 'here')).toThrow(SealBroken)
  })

  it('rejects a value sealed for another context', () => {
    expect(() => seal.open(seal.seal('secret', 'connection:1'), 'connection:2')).toThrow(/another place/)
  })

  it('reports a value sealed under another master key', () => {
    const other = createSeal(Buffer.alloc(32, 8), createRandom())
    expect(() => other.open(seal.seal('secret', 'here'), 'here')).toThrow(/another master key/)
  })

  it('opens values sealed by earlier versions', () => {
    const kept =
      '0124debd7e09090909090909090909090909090909090909090909090909090909c6b7702eb88fea60437fac2d66e57ec2aa069fd2'
    expect(seal.open(Buffer.from(kept, 'hex'), 'here').toString()).toBe('kept')
    expect(seal.hashSecret('123456').toString('hex')).toBe(
      '81a618ff2369168d103a12025dbf288fbf4500664126aa84cd583edda102f50e',
    )
  })

  it('hashes equal text to the same 32 bytes, depending on the key', () => {
    const other = createSeal(Buffer.alloc(32, 8), createRandom())
    expect(seal.hashSecret('123456')).toEqual(seal.hashSecret('123456'))
    expect(seal.hashSecret('123456')).toHaveLength(32)
    expect(seal.hashSecret('123456')).not.toEqual(seal.hashSecret('123457'))
    expect(seal.hashSecret('123456')).not.toEqual(other.hashSecret('123456'))
  })

  it('rejects a master key of another length', () => {
    expect(() => createSeal(Buffer.alloc(16), createRandom())).toThrow(RangeError)
  })
})
