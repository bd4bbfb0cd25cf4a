import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonMembers, JsonMembersFault, splitItems } from '../../src/lib/json-members.ts'
import { memoryInUse } from '../support/garbage.ts'

const LIMITS = { array: 'list', maxItemBytes: 1_000, maxMemberBytes: 200 }

/** What is read from a text that arrives in pieces of these lengths. */
function read(text: string, lengths: readonly number[] = [], limits = LIMITS) {
  const members = createJsonMembers(limits)
  const bytes = Buffer.from(text)
  const found: { members: Record<string, unknown>; list: unknown[] | null } = { members: {}, list: null }
  const cuts = [...lengths, bytes.length]
  for (let at = 0, cut = 0; at < bytes.length; cut++) {
    const length = Math.max(1, cuts[cut % cuts.length]!)
    for (const part of members.push(Buffer.from(bytes.subarray(at, at + length)))) {
      if (part.kind === 'opened') found.list = []
      else if (part.kind === 'member') found.members[part.key] = JSON.parse(part.value.toString())
      else found.list!.push(...(JSON.parse(`[${part.items.toString()}]`) as unknown[]))
    }
    at += length
  }
  members.end()
  return found
}

const key = fc.string({ maxLength: 5 }).filter(name => name !== 'list' && name !== '__proto__')
const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })

test('items are split as JSON.parse reads them, without the white space before them', () => {
  const list = fc.array(fc.jsonValue({ maxDepth: 3 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(list, fc.constantFrom(0, 1, 3), (items, indent) => {
      const found = splitItems(Buffer.from(JSON.stringify(items, null, indent).slice(1, -1)))
      expect(found.map(item => JSON.parse(item.toString()) as unknown)).toEqual(
        JSON.parse(JSON.stringify(items)),
      )
      expect(found.filter(item => item.toString().trimStart() !== item.toString())).toEqual([])
    }),
  )
})

test('reads the same as JSON.parse, wherever the text is split', () => {
  fc.assert(
    fc.property(
      object,
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(0, 1, 3),
      fc.boolean(),
      (rest, list, lengths, indent, first) => {
        const text = JSON.stringify(first ? { list, ...rest } : { ...rest, list }, null, indent)
        const found = read(text, lengths, { ...LIMITS, maxItemBytes: 1e6, maxMemberBytes: 1e6 })
        expect(found).toEqual({
          members: JSON.parse(JSON.stringify(rest)),
          list: JSON.parse(JSON.stringify(list)),
        })
      },
    ),
  )
})

test('ignores one byte order mark, at the start only, wherever the text is cut', () => {
  for (const length of [1, 2, 3, 100]) {
    expect(read('\ufeff {"n": 1}', [length]).members).toEqual({ n: 1 })
    expect(() => read('\ufeff\ufeff{"n": 1}', [length])).toThrow('JSON object')
    expect(() => read(' \ufeff{"n": 1}', [length])).toThrow('JSON object')
  }
})

test('never accepts what JSON.parse rejects', () => {
  const texts = fc.constantFrom(
    '{"list": [1, {"a": "b\\"]"}], "n": 5}',
    '{"n": {"x": [1, "}"]}, "list": []}',
    '{"list": [[], [[]], ""], "m": null, "n": "\\\\"}',
  )
  const edit = fc.record({
    at: fc.nat({ max: 60 }),
    with: fc.constantFrom('', ',', ']', '}', '"', '[', '{', ':', '\\', '1'),
  })
  fc.assert(
    fc.property(texts, edit, fc.integer({ min: 1, max: 70 }), (text, { at, with: letter }, length) => {
      const broken = text.slice(0, at) + letter + text.slice(at + 1)
      const taken = outcome(() => read(broken, [length]))
      const right = outcome(() => JSON.parse(broken) as object)
      // JSON.parse accepts a repeated key and this parser does not, so only this direction is checked.
      if (taken !== null) expect(right).not.toBeNull()
    }),
    { numRuns: 3_000 },
  )
})

function outcome<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

describe('rejects', () => {
  test.each([
    ['', 'complete'],
    ['[]', 'JSON object'],
    ['"list"', 'JSON object'],
    ['{', 'complete'],
    ['{"list": [1', 'complete'],
    ['{"list": [1,]}', 'well-formed'],
    ['{"list": [,1]}', 'well-formed'],
    ['{"list": [1}}', 'well-formed'],
    ['{"n": }', 'well-formed'],
    ['{"n": 1,}', 'well-formed'],
    ['{"n" 1}', 'well-formed'],
    ['{n: 1}', 'well-formed'],
    ['{"n": 1} 2', 'well-formed'],
    ['{"n": 1, "n": 2}', 'once only'],
    ['{"list": [], "list": []}', 'once only'],
  ])('the text %s', (text, words) => {
    expect(() => read(text)).toThrow(JsonMembersFault)
    expect(() => read(text)).toThrow(words)
    expect(() => read(text, [1])).toThrow(words)
  })

  test('an item that is too long, before its end has arrived', () => {
    const members = createJsonMembers(LIMITS)
    members.push(Buffer.from('{"list": ["'))
    expect(() => members.push(Buffer.from('x'.repeat(1_001)))).toThrow('item')
  })

  test('a member value that is too long', () => {
    expect(() => read(`{"n": "${'x'.repeat(300)}"}`)).toThrow('value')
  })

  test('only long items, not many short ones that arrive in one piece', () => {
    expect(read(JSON.stringify({ list: Array.from({ length: 5_000 }, () => 'x') })).list).toHaveLength(5_000)
  })
})

test('holds no more memory than the open item needs', () => {
  const members = createJsonMembers({ ...LIMITS, maxItemBytes: 1e9 })
  members.push(Buffer.from('{"list": ["'))
  const before = memoryInUse().arrayBuffers
  for (let at = 0; at < 200; at++) members.push(Buffer.from(`${'x'.repeat(100_000)}", "`))
  expect(memoryInUse().arrayBuffers - before).toBeLessThan(1_000_000)
  // Keeps the parser in use: otherwise it could be garbage-collected before the measurement.
  members.push(Buffer.from('"]}'))
})

test('reads long values that arrive in many small pieces', () => {
  const long = 'x'.repeat(4_000_000)
  const text = JSON.stringify({ list: [long, long] })
  const lengths = new Array<number>(Math.ceil(text.length / 100)).fill(100)
  const found = read(text, lengths, { ...LIMITS, maxItemBytes: 10_000_000 })
  expect(found.list).toEqual([long, long])
})
