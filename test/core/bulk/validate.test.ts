import { expect, test } from 'vitest'
import type { AccountSnapshot } from '../../../src/contract/caller.ts'
import { type BulkValidatorDeps, createBulkValidator } from '../../../src/core/bulk/validate.ts'
import type { Query } from '../../../src/infra/db.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock, turn } from '../../support/fake-clock.ts'

const clock = createFakeClock()
const ids = createIds(clock, createRandom())
const ROWS = 2_000

function validating() {
  return {
    account_id: toUuid(ids.next('acc')),
    id: toUuid(ids.next('job')),
    key_id: toUuid(ids.next('key')),
    live: true,
    status: 'validating',
    pause_reason: null,
    total: ROWS,
    validated: 0,
  }
}

test('a stop waits for the rows that are being checked, and not for the jobs of the round, whose providers may be slow', async () => {
  const asked: PromiseWithResolvers<never>[] = []
  const stored: unknown[] = []
  const answers: Record<string, (values: readonly unknown[]) => object[]> = {
    bulk_claim_validations: () => [validating(), validating()],
    bulk_cheapest: () => [{ cheapest: {} }],
    bulk_read_rows: ([, , from, limit]) =>
      Array.from({ length: limit as number }, (_, at) => ({ n: (from as number) + at, body: '{"to":"+4"}' })),
    bulk_note_page(values) {
      stored.push(values)
      return [{ noted: 1 }]
    },
  }
  const validator = createBulkValidator({
    db: {
      async query({ name, values = [] }: Query) {
        return { rows: answers[name]!(values), rowCount: 1 }
      },
    },
    clock,
    log: { error() {} },
    node: () => 1,
    account: () => ({}) as AccountSnapshot,
    faultsOf: () => null,
    // Each row waits for this, as for a provider that is asked whether it reaches the recipient.
    world() {
      asked.push(Promise.withResolvers())
      return asked.at(-1)!.promise
    },
  } as unknown as BulkValidatorDeps)

  const round = validator.round()
  while (asked.length === 0) await turn()
  validator.stop()
  asked[0]!.reject(new Error('the provider was slow'))
  await round
  expect(asked).toHaveLength(1)
  expect(stored).toEqual([])
})

test('a job whose provider is slow to tell whom it reaches does not keep others waiting for long', async () => {
  const [slow, quick] = [validating(), validating()]
  const askedMs = { slow: [] as number[], quick: [] as number[] }
  const jobs = [slow, quick]
  const validator = createBulkValidator({
    db: {
      async query({ name, values = [] }: Query) {
        const rows: Record<string, () => object[]> = {
          bulk_claim_validations: () => jobs.splice(0),
          bulk_cheapest: () => [{ cheapest: {} }],
          bulk_read_rows: () =>
            Array.from({ length: values[3] as number }, (_, at) => ({
              n: (values[2] as number) + at,
              body: '{"to":"+4"}',
            })),
          bulk_note_page: () => [{ noted: 1 }],
          bulk_read: () => [{ ...quick, invalid: 1 }],
          bulk_end_validation: () => [],
        }
        return { rows: rows[name]!(), rowCount: 1 }
      },
    },
    clock,
    log: { error() {} },
    node: () => 1,
    account: (id: string) => ({ id }) as AccountSnapshot,
    faultsOf: () => null,
    async world({ account }: { account: AccountSnapshot }) {
      const isSlow = toUuid(account.id) === slow.account_id
      askedMs[isSlow ? 'slow' : 'quick'].push(clock.monotonic())
      if (isSlow) await new Promise<void>(resolve => clock.after(2_000, resolve))
      throw new Error('no route')
    },
  } as unknown as BulkValidatorDeps)

  const beganMs = clock.monotonic()
  let isOver = false
  const round = validator.round().finally(() => {
    isOver = true
  })
  while (!isOver) {
    await turn()
    await clock.advance(100)
  }
  expect(await round).toBe(true)
  expect(askedMs.quick[0]! - beganMs).toBeLessThan(5_000)
})
