import { expect, test } from 'vitest'
import { type BatchOptions, createBatcher } from '../../src/infra/batch.ts'

/** A batcher whose flushes end when the test ends them, in the order in which they started. */
function create(options: Omit<BatchOptions<string, string>, 'flush'> = {}) {
  const flushed: string[][] = []
  const ends: { succeed(): void; fail(error: Error): void }[] = []
  let begun: (() => void) | null = null
  const batcher = createBatcher<string, string>({
    ...options,
    flush: items =>
      new Promise((resolve, reject) => {
        flushed.push(items)
        ends.push({ succeed: () => resolve(items.map(item => item.toUpperCase())), fail: reject })
        begun?.()
      }),
  })
  /** Resolves when this many flushes have started. */
  async function flushesStarted(count: number): Promise<void> {
    while (flushed.length < count) await new Promise<void>(resolve => (begun = resolve))
  }
  return { batcher, flushed, ends, flushesStarted }
}

test('items added during a flush go into the next flush', async () => {
  const { batcher, flushed, ends, flushesStarted } = create()
  const first = [batcher.add('a'), batcher.add('b')]
  await flushesStarted(1)
  const next = [batcher.add('c'), batcher.add('d')]
  expect([flushed, batcher.size()]).toEqual([[['a', 'b']], 4])
  ends[0]!.succeed()
  expect(await Promise.all(first)).toEqual(['A', 'B'])
  await flushesStarted(2)
  ends[1]!.succeed()
  expect(await Promise.all(next)).toEqual(['C', 'D'])
  await batcher.idle()
  expect([flushed[1], batcher.size()]).toEqual([['c', 'd'], 0])
})

test('a flush holds at most maxItems items, and the rest follow in order', async () => {
  const { batcher, flushed, ends, flushesStarted } = create({ maxItems: 2 })
  const all = [...'abcde'].map(item => batcher.add(item))
  for (let round = 0; round < 3; round++) {
    await flushesStarted(round + 1)
    ends[round]!.succeed()
  }
  expect(await Promise.all(all)).toEqual([...'ABCDE'])
  expect(flushed).toEqual([['a', 'b'], ['c', 'd'], ['e']])
})

test('a flush holds at most maxWeight, and a heavier item gets a flush of its own', async () => {
  const { batcher, flushed, ends, flushesStarted } = create({ weightOf: item => item.length, maxWeight: 4 })
  const all = ['aa', 'bb', 'c', 'dddddd', 'e', 'ff'].map(item => batcher.add(item))
  for (let round = 0; round < 3; round++) {
    await flushesStarted(round + 1)
    ends[round]!.succeed()
  }
  await Promise.all(all)
  expect(flushed).toEqual([['aa', 'bb'], ['c', 'e', 'ff'], ['dddddd']])
  // Flushed items no longer count towards the weight.
  const light = [batcher.add('gg'), batcher.add('hh')]
  await flushesStarted(4)
  ends[3]!.succeed()
  expect(await Promise.all(light)).toEqual(['GG', 'HH'])
})

test('items with the same conflict key never share a flush', async () => {
  const { batcher, flushed, ends, flushesStarted } = create({ conflictKey: item => item[0] })
  const all = ['a1', 'b1', 'a2', 'c1', 'a3'].map(item => batcher.add(item))
  for (let round = 0; round < 3; round++) {
    await flushesStarted(round + 1)
    ends[round]!.succeed()
  }
  await Promise.all(all)
  expect(flushed).toEqual([['a1', 'b1', 'c1'], ['a2'], ['a3']])
})

test('an item that waits because of its conflict key comes before later items', async () => {
  const { batcher, flushed, ends, flushesStarted } = create({ maxItems: 2, conflictKey: item => item[0] })
  const all = ['a1', 'a2', 'b1', 'c1', 'd1'].map(item => batcher.add(item))
  for (let round = 0; round < 3; round++) {
    await flushesStarted(round + 1)
    ends[round]!.succeed()
  }
  await Promise.all(all)
  expect(flushed).toEqual([['a1', 'b1'], ['a2', 'c1'], ['d1']])
})

test('a failing flush rejects only its own items', async () => {
  const { batcher, ends, flushesStarted } = create({ maxItems: 1 })
  const [first, second] = [batcher.add('a'), batcher.add('b')]
  await flushesStarted(1)
  ends[0]!.fail(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  await flushesStarted(2)
  ends[1]!.succeed()
  expect(await second).toBe('B')
  await batcher.idle()
  expect(batcher.size()).toBe(0)
})
