import { expect, test } from 'vitest'
import { type BatchOptions, createBatcher } from '../../src/infra/batch.ts'

/** A batcher whose flushes end when they are told to, in the order of their beginning. */
function create(options: Omit<BatchOptions<string, string>, 'flush'> = {}) {
  const flights: string[][] = []
  const ends: { land(): void; crash(error: Error): void }[] = []
  let begun: (() => void) | null = null
  const batcher = createBatcher<string, string>({
    ...options,
    flush: items =>
      new Promise((resolve, reject) => {
        flights.push(items)
        ends.push({ land: () => resolve(items.map(item => item.toUpperCase())), crash: reject })
        begun?.()
      }),
  })
  /** Resolves when so many flights have begun. */
  async function flown(count: number): Promise<void> {
    while (flights.length < count) await new Promise<void>(resolve => (begun = resolve))
  }
  return { batcher, flights, ends, flown }
}

test('what comes while a flush is under way flies with the next one', async () => {
  const { batcher, flights, ends, flown } = create()
  const first = [batcher.add('a'), batcher.add('b')]
  await flown(1)
  const next = [batcher.add('c'), batcher.add('d')]
  expect([flights, batcher.size()]).toEqual([[['a', 'b']], 4])
  ends[0]!.land()
  expect(await Promise.all(first)).toEqual(['A', 'B'])
  await flown(2)
  ends[1]!.land()
  expect(await Promise.all(next)).toEqual(['C', 'D'])
  await batcher.idle()
  expect([flights[1], batcher.size()]).toEqual([['c', 'd'], 0])
})

test('a flush has its most items, and the others follow in their order', async () => {
  const { batcher, flights, ends, flown } = create({ maxItems: 2 })
  const all = [...'abcde'].map(item => batcher.add(item))
  for (let flight = 0; flight < 3; flight++) {
    await flown(flight + 1)
    ends[flight]!.land()
  }
  expect(await Promise.all(all)).toEqual([...'ABCDE'])
  expect(flights).toEqual([['a', 'b'], ['c', 'd'], ['e']])
})

test('a flush has its most weight, and what is heavier flies alone', async () => {
  const { batcher, flights, ends, flown } = create({ weightOf: item => item.length, maxWeight: 4 })
  const all = ['aa', 'bb', 'c', 'dddddd', 'e', 'ff'].map(item => batcher.add(item))
  for (let flight = 0; flight < 3; flight++) {
    await flown(flight + 1)
    ends[flight]!.land()
  }
  await Promise.all(all)
  expect(flights).toEqual([['aa', 'bb'], ['c', 'e', 'ff'], ['dddddd']])
  // What has flown weighs nothing any more.
  const light = [batcher.add('gg'), batcher.add('hh')]
  await flown(4)
  ends[3]!.land()
  expect(await Promise.all(light)).toEqual(['GG', 'HH'])
})

test('items that stand in one another’s way never share a flush', async () => {
  const { batcher, flights, ends, flown } = create({ conflictKey: item => item[0] })
  const all = ['a1', 'b1', 'a2', 'c1', 'a3'].map(item => batcher.add(item))
  for (let flight = 0; flight < 3; flight++) {
    await flown(flight + 1)
    ends[flight]!.land()
  }
  await Promise.all(all)
  expect(flights).toEqual([['a1', 'b1', 'c1'], ['a2'], ['a3']])
})

test('a flush that fails fails its own items alone', async () => {
  const { batcher, ends, flown } = create({ maxItems: 1 })
  const [first, second] = [batcher.add('a'), batcher.add('b')]
  await flown(1)
  ends[0]!.crash(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await flown(2)
  ends[1]!.land()
  expect(await second).toBe('B')
})
