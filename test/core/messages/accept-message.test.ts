import { beforeEach, describe, expect, test } from 'vitest'
import { createAcceptMessage } from '../../../src/core/messages/accept-message.ts'
import type { AcceptRow } from '../../../src/core/messages/hot-store.ts'
import type { Prepared } from '../../../src/core/messages/prepare.ts'
import { DatabaseUnavailable } from '../../../src/infra/db.ts'
import { createIds } from '../../../src/lib/ids.ts'
import { createRandom } from '../../../src/lib/random.ts'
import { createFakeClock } from '../../support/fake-clock.ts'

/** What becomes of the place in the lane and of the file of a message, by the verdict on it. */

const clock = createFakeClock()
const ids = createIds(clock, createRandom())
let done: string[]
let stored: AcceptRow[]

beforeEach(() => {
  done = []
  stored = []
})

const acceptMessage = createAcceptMessage({
  clock,
  seal: {} as never,
  accept: {} as never,
  dispatch: {
    admit: () => ({ kind: 'begin' }),
    release: () => void done.push('release'),
    push: (_, begun) => void done.push(`push ${begun}`),
  },
  storeAttachment: async () => 'file' as never,
  dropAttachment: async () => void done.push('drop file'),
  reserveRoom: async () => {},
  retainAsset: async () => true,
  releaseAssets: async () => void done.push('release assets'),
})

function prepared(more: Partial<Prepared> = {}): Prepared {
  return {
    accountId: ids.next('acc'),
    connectionId: ids.next('cnn'),
    mode: 'live',
    channel: 'local_sms',
    messageType: 'utility',
    candidates: ['local_sms'],
    rendered: { text: 'Hello', subject: null, html: false },
    attachment: {
      type: 'file',
      mimetype: 'text/plain',
      fileName: 'a.txt',
      publicUrl: null,
      bytes: Buffer.of(1),
    },
    template: null,
    code: null,
    context: null,
    requestedSender: null,
    metadata: null,
    scheduledAt: null,
    ...more,
  } as unknown as Prepared
}

function accept(kind: string, more: Partial<Prepared> = {}) {
  return acceptMessage(ids.next('msg'), prepared(more), null, async row => {
    stored.push(row)
    return { kind }
  })
}

describe('a message with a file that was given a place in its lane', () => {
  test.each([
    ['accepted', ['push true']],
    ['insufficient', ['release', 'drop file']],
    ['exists', ['release', 'drop file']],
    // An earlier try has stored it: it still needs its file.
    ['known', ['release']],
  ])('and is %s: %j', async (kind, expected) => {
    expect(await accept(kind)).toEqual({ kind })
    expect(done).toEqual(expected)
    expect(stored).toMatchObject([{ status: 'sending', begun: true, owned: true, answer: null }])
  })

  test('and that may have been stored gives the place back and keeps the file', async () => {
    const away = new DatabaseUnavailable(new Error('away'))
    const work = acceptMessage(ids.next('msg'), prepared(), null, () => Promise.reject(away))
    await expect(work).rejects.toBe(away)
    expect(done).toEqual(['release'])
  })
})

test('a scheduled message takes no place, and its request gets its answer with the accept', async () => {
  const scheduledAt = clock.now() + 60_000
  await accept('accepted', { scheduledAt })
  expect(done).toEqual([])
  expect(stored).toMatchObject([
    { status: 'scheduled', begun: false, owned: false, dueAt: scheduledAt, answer: 'scheduled' },
  ])
})
