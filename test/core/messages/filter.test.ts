import { expect, test } from 'vitest'
import { matchesFilter, readFilter } from '../../../src/core/messages/filter.ts'
import type { MessageRow } from '../../../src/core/messages/message-store.ts'
import { timeOf } from '../../../src/lib/ids.ts'
import { createPhones } from '../../../src/lib/phone.ts'

const ROW: Partial<MessageRow> = {
  id: 'msg_01jd0000000000000000000001',
  templateId: null,
  bulkJobId: 'job_01jd0000000000000000000001',
}

test('a malformed id in a filter matches no message, not even one without such an id', () => {
  const matches = (query: Parameters<typeof readFilter>[0]) =>
    matchesFilter(readFilter(query, createPhones({ cacheSize: 2 })), ROW as MessageRow)
  expect(matches({ bulkJobId: ROW.bulkJobId! })).toBe(true)
  for (const malformed of ['', 'tpl_1', 'job_1', ROW.bulkJobId!.toUpperCase()]) {
    expect(matches({ templateId: malformed })).toBe(false)
    expect(matches({ bulkJobId: malformed })).toBe(false)
    expect(matches({ templateId: malformed, bulkJobId: ROW.bulkJobId! })).toBe(false)
  }
})

test('both ends of a time range are outside it', () => {
  const atMs = timeOf(ROW.id!)
  const at = (ms: number) => new Date(atMs + ms).toISOString()
  const matches = (query: Parameters<typeof readFilter>[0]) =>
    matchesFilter(readFilter(query, createPhones({ cacheSize: 2 })), ROW as MessageRow)
  expect(matches({ createdAfter: at(-1), createdBefore: at(1) })).toBe(true)
  expect(matches({ createdBefore: at(0) })).toBe(false)
  expect(matches({ createdAfter: at(0) })).toBe(false)
})
