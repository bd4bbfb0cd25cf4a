import { expect, test } from 'vitest'
import { createCopyBuffer } from '../../../src/core/bulk/copy-buffer.ts'
import { createIds, toUuid } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

const ids = createIds(createFakeClock(), createRandom())
const job = { accountId: ids.next('acc'), id: ids.next('job') }
const line = (n: number, body: string) => `${toUuid(job.accountId)}\t${toUuid(job.id)}\t${n}\t${body}\n`

test('rows are written in the text format of COPY, whatever their numbers and texts', () => {
  const buffer = createCopyBuffer(job, 10_000)
  const numbers = [0, 9, 10, 99, 100, 1_000_000, 999_999_999]
  for (const n of numbers) buffer.add(n, `{"to":"ü ${n}"}`)
  buffer.add(7, String.raw`{"a":"\"\n\\"}`)
  expect(buffer.bytes().toString()).toBe(
    numbers.map(n => line(n, `{"to":"ü ${n}"}`)).join('') + line(7, String.raw`{"a":"\\"\\n\\\\"}`),
  )
  expect(buffer.rows()).toBe(numbers.length + 1)
})

test('the buffer grows for rows that exceed its size, and can be reused after clear()', () => {
  const buffer = createCopyBuffer(job, 100)
  const long = 'ü'.repeat(400_000)
  buffer.add(0, 'first')
  expect(buffer.isFull()).toBe(false)
  buffer.add(1, long)
  expect(buffer.isFull()).toBe(true)
  buffer.add(2, long)
  expect(buffer.bytes().toString()).toBe(line(0, 'first') + line(1, long) + line(2, long))
  buffer.clear()
  expect([buffer.rows(), buffer.isFull(), buffer.bytes().length]).toEqual([0, false, 0])
  buffer.add(3, 'again')
  expect(buffer.bytes().toString()).toBe(line(3, 'again'))
})
