import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIds, firstUuidAt, fromUuid, isId, timeOf, toUuid } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'

const BASE_32 = '0123456789abcdefghjkmnpqrstvwxyz'

test('an id encodes its UUID in 26 characters and converts back to it', () => {
  fc.assert(
    fc.property(fc.uuid(), uuid => {
      const id = fromUuid('msg', uuid)
      const spelled = [...id.slice(4)].reduce(
        (value, letter) => value * 32n + BigInt(BASE_32.indexOf(letter)),
        0n,
      )
      expect(isId('msg', id)).toBe(true)
      expect(spelled).toBe(BigInt(`0x${uuid.replaceAll('-', '')}`))
      expect(toUuid(id)).toBe(uuid)
    }),
  )
})

test('ids are unique and sort by creation, within a millisecond and when the clock goes back', () => {
  const times = [1_700_000_000_000, 1_700_000_000_000, 1_699_999_999_000, 1_700_000_000_001]
  let nowMs = 0
  const ids = createIds({ now: () => nowMs } as Parameters<typeof createIds>[0], createRandom())
  const made = times.flatMap(time => {
    nowMs = time
    return Array.from({ length: 5_000 }, () => ids.next('evt'))
  })
  expect([...made].sort()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
  expect(timeOf(made[0]!)).toBe(times[0])
  expect(timeOf(made.at(-1)!) - times.at(-1)!).toBeLessThan(10)
  for (const id of made)
    expect(toUuid(id)).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  expect(firstUuidAt(timeOf(made[0]!)) <= toUuid(made[0]!)).toBe(true)
})

test('after the clock was wrong, and far ahead, ids follow it again: what is made has its own time', () => {
  const right = 1_700_000_000_000
  let nowMs = right + 400 * 86_400_000
  const ids = createIds({ now: () => nowMs } as Parameters<typeof createIds>[0], createRandom())
  ids.next('msg')
  nowMs = right
  const made = Array.from({ length: 5_000 }, () => ids.next('msg'))
  expect(timeOf(made[0]!)).toBe(right)
  expect([...made].sort()).toEqual(made)
})
