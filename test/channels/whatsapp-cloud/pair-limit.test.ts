import { expect, test } from 'vitest'
import { createPairLimit } from '../../../src/channels/whatsapp-cloud/pair-limit.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const BURST = 45

test('allows a burst of 45 messages, then one every six seconds', async () => {
  const clock = createFakeClock()
  const pairs = createPairLimit(clock)
  for (let nth = 0; nth < BURST; nth++) expect(pairs.acquire('+1')).toBe(0)
  expect(pairs.acquire('+1')).toBe(6_000)
  await clock.advance(5_999)
  expect(pairs.acquire('+1')).toBe(1)
  await clock.advance(1)
  expect(pairs.acquire('+1')).toBe(0)
  expect(pairs.acquire('+1')).toBe(6_000)
})

test('limits each recipient separately', () => {
  const pairs = createPairLimit(createFakeClock())
  for (let nth = 0; nth < BURST; nth++) pairs.acquire('+1')
  expect(pairs.acquire('+1')).toBeGreaterThan(0)
  expect(pairs.acquire('+2')).toBe(0)
})

test('allows a full burst again after a pause', async () => {
  const clock = createFakeClock()
  const pairs = createPairLimit(clock)
  for (let nth = 0; nth < 20; nth++) pairs.acquire('+1')
  await clock.advance(120_000)
  for (let nth = 0; nth < BURST; nth++) expect(pairs.acquire('+1')).toBe(0)
  expect(pairs.acquire('+1')).toBe(6_000)
})

test('a message that was not sent frees its place', () => {
  const pairs = createPairLimit(createFakeClock())
  for (let nth = 0; nth < BURST; nth++) pairs.acquire('+1')
  pairs.release('+1')
  expect(pairs.acquire('+1')).toBe(0)
  expect(pairs.acquire('+1')).toBe(6_000)
})

test('each refusal in a row throttles the recipient for longer, until a message is accepted', async () => {
  const clock = createFakeClock()
  const pairs = createPairLimit(clock)
  const waits: number[] = []
  for (let nth = 0; nth < 8; nth++) {
    waits.push(pairs.recordRefused('+1'))
    expect(pairs.acquire('+1')).toBe(waits.at(-1))
    await clock.advance(waits.at(-1)!)
    expect(pairs.acquire('+1')).toBe(0)
    pairs.release('+1')
  }
  expect(waits).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000, 3_600_000, 3_600_000])
  pairs.recordAccepted('+1')
  expect(pairs.recordRefused('+1')).toBe(1_000)
})

test('several refusals within one pause count once', async () => {
  const clock = createFakeClock()
  const pairs = createPairLimit(clock)
  expect(pairs.recordRefused('+1')).toBe(1_000)
  await clock.advance(400)
  for (let nth = 0; nth < 20; nth++) expect(pairs.recordRefused('+1')).toBe(600)
  await clock.advance(600)
  expect(pairs.recordRefused('+1')).toBe(4_000)
})

test('forgets the oldest of more than 50,000 recipients', () => {
  const pairs = createPairLimit(createFakeClock())
  for (let nth = 0; nth < BURST; nth++) pairs.acquire('+1')
  for (let nth = 0; nth < 50_000; nth++) pairs.acquire(`+2${nth}`)
  expect(pairs.acquire('+1')).toBe(0)
})
