import { expect, test } from 'vitest'
import type { BotChat, BotChatEvent, BotUpdate } from '../../../src/contract/bot-platform.ts'
import {
  applyUpdate,
  markBlocked,
  moveSubscriber,
  type Subscriber,
} from '../../../src/core/bots/subscriber.ts'

const NOW = 1_795_000_000_500
const chat: BotChat = { chatId: '1', userId: '1', username: 'ada', firstName: 'Ada', lastName: null }
const none = { button: null, buttonTitle: null, replyTo: null, media: [], location: null, contacts: [] }
const message = { text: 'Hi', name: 'Ada', ...none }
const said: BotChatEvent = { kind: 'message', start: null, message }
const start = (payload: string | null): BotChatEvent => ({ kind: 'message', start: { payload }, message })

const update = (id: number, what: BotUpdate['what'], atMs: number | null = NOW) => ({
  id,
  chat,
  atMs,
  what,
  press: null,
})

function known(more: Partial<Subscriber> = {}): Subscriber {
  const { after } = applyUpdate(null, update(10, start('first')), NOW)
  return { ...after!, ...more }
}

test('a first message creates a subscriber; a block, an unblock or an update without content does not', () => {
  expect(applyUpdate(null, update(1, said), NOW)).toMatchObject({
    after: { ...chat, startPayload: null, startedAtMs: 1_795_000_000_000, blockedAtMs: null, movedTo: null },
    events: ['started'],
  })
  for (const what of [{ kind: 'blocked' }, { kind: 'returned' }, null] as const) {
    expect(applyUpdate(null, update(1, what), NOW)).toEqual({ after: null, events: [] })
  }
})

test.each([
  [
    'a message changes neither the block nor the start payload',
    known(),
    said,
    { blockedAtMs: null, startPayload: 'first' },
    [],
  ],
  [
    'another start replaces the start payload',
    known(),
    start('second'),
    { startPayload: 'second' },
    ['started'],
  ],
  [
    'a start without a payload keeps the last payload',
    known(),
    start(null),
    { startPayload: 'first' },
    ['started'],
  ],
  [
    'a block sets the time of the block',
    known(),
    { kind: 'blocked' },
    { blockedAtMs: 1_795_000_000_000 },
    ['blocked'],
  ],
  [
    'a second block keeps the time of the first one',
    known({ blockedAtMs: 5 }),
    { kind: 'blocked' },
    { blockedAtMs: 5 },
    [],
  ],
  [
    'an unblock ends the block',
    known({ blockedAtMs: 5 }),
    { kind: 'returned' },
    { blockedAtMs: null },
    ['returned'],
  ],
  [
    'a join ends the block',
    known({ blockedAtMs: 5 }),
    { kind: 'joined' },
    { blockedAtMs: null },
    ['returned'],
  ],
  ['an unblock without a block creates no event', known(), { kind: 'returned' }, { blockedAtMs: null }, []],
  ['a message ends the block', known({ blockedAtMs: 5 }), said, { blockedAtMs: null }, ['returned']],
  [
    'a start ends the block and creates the events of both',
    known({ blockedAtMs: 5 }),
    start(null),
    { blockedAtMs: null },
    ['returned', 'started'],
  ],
] as const)('for a known subscriber, %s', (_, before, what, after, events) => {
  expect(applyUpdate(before, update(11, what), NOW)).toEqual({
    after: expect.objectContaining({ ...after, lastUpdateId: 11 }),
    events,
  })
})

test('an update older than the last one only fills in a missing start payload', () => {
  const blocked = known({ lastUpdateId: 12, blockedAtMs: 5, startPayload: null })
  expect(applyUpdate(blocked, update(11, said), NOW)).toEqual({ after: blocked, events: [] })
  expect(applyUpdate(blocked, update(11, start('late')), NOW)).toEqual({
    after: { ...blocked, startPayload: 'late' },
    events: [],
  })
  expect(
    applyUpdate(known({ startPayload: 'newer' }), update(1, start('late'), NOW - 5_000), NOW),
  ).toMatchObject({
    after: { startPayload: 'newer' },
  })
})

test('an update with a lower id is applied after an idle week, when the platform restarts its numbering', () => {
  const later = NOW + 8 * 86_400_000
  expect(
    applyUpdate(known({ lastUpdateId: 900_000 }), update(3, { kind: 'blocked' }, later), later),
  ).toMatchObject({
    after: { blockedAtMs: later - 500, lastUpdateId: 3 },
    events: ['blocked'],
  })
})

test('an update from a platform clock that runs ahead does not outdate the next update', () => {
  const { after } = applyUpdate(null, update(1, said, NOW + 3_600_000), NOW)
  expect(applyUpdate(after, update(2, { kind: 'blocked' }), NOW)).toMatchObject({ events: ['blocked'] })
})

test('updates that were delayed are applied after a button press, although the press has no time', () => {
  const pressed = applyUpdate(known(), update(11, said, null), NOW).after!
  const hourAgo = NOW - 3_600_000
  expect(applyUpdate(pressed, update(12, start('second'), hourAgo), NOW)).toMatchObject({
    after: { startPayload: 'second', lastSeenAtMs: pressed.lastSeenAtMs, lastUpdateId: 12 },
    events: ['started'],
  })
  expect(applyUpdate(pressed, update(12, { kind: 'blocked' }, hourAgo), NOW)).toMatchObject({
    after: { blockedAtMs: hourAgo - 500, lastSeenAtMs: pressed.lastSeenAtMs },
    events: ['blocked'],
  })
})

test('a group that moves to a new chat id keeps a reference to it', () => {
  const before = known()
  expect(moveSubscriber(before, null, '-100')).toEqual({
    left: { ...before, movedTo: '-100' },
    now: { ...before, chatId: '-100' },
  })
  const there = known({ chatId: '-100', startPayload: 'own' })
  expect(moveSubscriber(before, there, '-100').now).toEqual(there)
})

test('a group whose new chat is known before the move keeps its start', () => {
  const before = known({ chatId: '-1' })
  const there = known({ chatId: '-100', startPayload: null, startedAtMs: NOW + 5_000, lastUpdateId: 12 })
  expect(moveSubscriber(before, there, '-100').now).toEqual({
    ...there,
    startPayload: 'first',
    startedAtMs: before.startedAtMs,
  })
})

test('a block that a refused send shows sets its time, but not when the chat was last seen', () => {
  const later = NOW + 60_000
  const blocked = markBlocked(known(), later)
  expect(blocked).toEqual({ after: known({ blockedAtMs: 1_795_000_060_000 }), events: ['blocked'] })
  expect(markBlocked(blocked.after!, later + 60_000)).toEqual({ after: blocked.after, events: [] })
})
