import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonResult, parseJson } from '../../src/lib/json-source.ts'

const read = (text: string): JsonResult => parseJson(Buffer.from(text))
function faultOf(text: string): { path: string; message: string } {
  const result = read(text)
  if (result.ok) throw new Error(`taken: ${text.slice(0, 100)}`)
  return { path: result.path, message: result.message }
}

describe('reading JSON', () => {
  it('returns the same as JSON.parse, whatever the indentation', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
        const value = JSON.parse(text)
        const result = read(JSON.stringify(value, null, indent))
        // The generator draws keys at random, among them keys that are not allowed.
        fc.pre(result.ok || !/not allowed|prototype|NUL|surrogate/.test(result.message))
        expect(result).toMatchObject({ ok: true, value })
      }),
    )
  })

  it('accepts exactly the texts that JSON.parse accepts, apart from repeated keys', () => {
    const scraps = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', 'a', '1', 'null', ' ', '\\"', '-')
    fc.assert(
      fc.property(fc.array(scraps, { maxLength: 12 }), parts => {
        const text = parts.join('')
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        const result = read(text)
        expect(result.ok || result.message === 'must be given once only').toBe(valid)
      }),
      { numRuns: 2_000 },
    )
  })

  it('reports whether there are nulls', () => {
    expect(read('{"a":[1,null]}')).toMatchObject({ hasNulls: true })
    expect(read('{"a":"null"}')).toMatchObject({ hasNulls: false })
  })

  it.each([
    '9007199254740993',
    '3.14159265358979323846',
    // The nearest double of these is an integer that it holds exactly.
    '4503599627370497.25',
    '999999999999999.99999',
    '1.00000000000000000001',
    '-0.99999999999999999999',
  ])('keeps all digits of %s in metadata', number => {
    const text = `{"to":"a","options":{"metadata":{"n":${number}}}}`
    const result = read(text)
    expect(result.ok && JSON.stringify(result.value)).toBe(text)
  })

  it('ignores a byte order mark', () => {
    expect(read('\ufeff{"a":1}')).toMatchObject({ ok: true, value: { a: 1 } })
  })

  it.each([
    ['', 'must be complete, well-formed JSON'],
    ['{"a":', 'must be complete, well-formed JSON'],
    ['{"a" 1}', 'must be well-formed JSON; the fault is at character 5'],
    ['{"otp":"123456",}', 'must be well-formed JSON; the fault is at character 16'],
    ['{"a":"raw \u0000"}', 'must be well-formed JSON; the fault is at character 10'],
    ['"open', 'must be well-formed JSON; the fault is at character 5'],
  ])('rejects %j without quoting it', (text, message) => {
    const fault = faultOf(text)
    expect(fault.path).toBe('')
    expect(fault.message).toBe(message)
  })

  it.each([
    ['{"to":"a\\u0000b"}', 'to', 'must not contain NUL characters'],
    ['{"metadata":{"a\\u0000":1}}', 'metadata["a\\u0000"]', 'must not contain NUL characters'],
    ['{"content":{"text":"\\ud800"}}', 'content.text', 'must not contain lone surrogates'],
    ['{"to":["ok","\\udc00\\ud800"]}', 'to[1]', 'must not contain lone surrogates'],
    ['{"\\ud83d":1}', '["\ufffd"]', 'must not contain lone surrogates'],
    ['{"a":{"__proto__":{"b":1}}}', 'a.__proto__', 'is not allowed as a key'],
    ['{"\\u005f_proto__":1}', '__proto__', 'is not allowed as a key'],
    ['{"constructor":{"prototype":{}}}', 'constructor', 'must not hold a prototype'],
    ['{"a":[0,{"n":1e999}]}', 'a[1].n', 'is too large a number'],
    ['{"n":-1e999}', 'n', 'is too large a number'],
  ])('rejects %s at %s', (text, path, message) => {
    expect(faultOf(text)).toEqual({ path, message })
  })

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"to":[{"x":1},{"y":1,"z":[1,2],"y":2}]}', 'to[1].y'],
    ['{"a":{"b":"x:y,{}[]"},"c":{"d":1, "d" : 2}}', 'c.d'],
    ['{"a":"\\"","b\\"":1,"b\\"":2}', '["b\\""]'],
    ['{"":1,"":2}', '[""]'],
    ['[[],[{"a":{"a":1}}],{"a":[],"a":{}}]', '[2].a'],
  ])('rejects a repeated key in %s', (text, path) => {
    expect(faultOf(text)).toEqual({ path, message: 'must be given once only' })
  })

  it('rejects a repeated key at any place and depth', () => {
    const values = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 })
    fc.assert(
      fc.property(values, fc.nat(), (members, pick) => {
        const keys = Object.keys(members)
        const key = keys[pick % keys.length]!
        const text = `${JSON.stringify(members).slice(0, -1)},${JSON.stringify(key)}:0}`
        expect(read(text).ok).toBe(false)
        expect(read(`[{"x":${text}}]`).ok).toBe(false)
      }),
    )
  })

  it('accepts equal keys in different objects', () => {
    expect(read('{"a":{"a":[{"a":1},{"a":1}]},"constructor":"x"}').ok).toBe(true)
  })

  it.each([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]])(
    'rejects bytes that are not UTF-8: %j',
    (...bytes) => {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')])
      expect(parseJson(body)).toEqual({ ok: false, path: '', message: 'must be encoded in UTF-8' })
    },
  )

  it.each(['{}', '[]', '0', '{"a":0}', '""'])('rejects more than 200000 values of %s', item => {
    const of = (count: number) => `[${Array(count).fill(item).join()}]`
    expect(read(of(50_000)).ok).toBe(true)
    expect(faultOf(of(200_001))).toEqual({ path: '', message: 'must not hold more than 200000 values' })
    // Commas and brackets inside a string are not counted.
    expect(read(JSON.stringify(of(200_001))).ok).toBe(true)
  })

  it('limits the depth, and survives a million brackets', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(read(nested(32)).ok).toBe(true)
    expect(faultOf(nested(33)).message).toBe('must not be nested deeper than 32 levels')
    expect(faultOf('['.repeat(1_000_000)).message).toBe('must not be nested deeper than 32 levels')
    expect(faultOf('{"a":'.repeat(1_000_000)).message).toBe('must not be nested deeper than 32 levels')
    expect(faultOf(']'.repeat(1_000_000)).message).toMatch(/well-formed/)
    expect(parseJson(Buffer.from(nested(33)), { maxDepth: 33 }).ok).toBe(true)
  })

  it('ignores brackets and colons inside strings', () => {
    expect(read(JSON.stringify({ text: `${'[{":'.repeat(100)}\\"` })).ok).toBe(true)
  })

  it('shortens a long key in the path of an error', () => {
    const key = 'k'.repeat(10_000)
    expect(faultOf(`{"${key}":"\\u0000"}`).path.length).toBeLessThan(100)
  })

  it('reads a body of 24 MB within the test timeout, whatever its strings contain', () => {
    const megabytes = 24
    for (const filler of ['QUJDRA==', '\\\\\\"', '\\u0041']) {
      const body = Buffer.from(`{"a":"${filler.repeat((megabytes * 1e6) / filler.length)}"}`)
      expect(parseJson(body).ok).toBe(true)
    }
  })
})
