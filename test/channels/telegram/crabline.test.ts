import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Link, Outgoing, OutgoingFile } from '../../../src/channels/provider.ts'
import { telegramProvider } from '../../../src/channels/telegram.ts'
import { startTelegram, type Telegram } from '../../support/telegram.ts'
import { createIo, never, type ObservedIo, outgoing } from '../conformance.ts'

const BOT = 'bot_00000000000000000000000001'

let telegram: Telegram
let io: ObservedIo
let link: Link

beforeAll(async () => {
  telegram = await startTelegram()
  io = { ...createIo(), vault: { read: async () => telegram.token } }
  link = await telegramProvider.open({ apiRoot: telegram.apiRoot }, io)
})
afterAll(async () => {
  await link.close()
  await telegram.close()
})

const message = (more: Partial<Outgoing> = {}) =>
  outgoing(1, { channel: 'botapp_bot', to: '100001', from: BOT, ...more })

const file = (more: Partial<OutgoingFile> = {}): OutgoingFile => ({
  type: 'document',
  mimetype: 'application/pdf',
  fileName: 'a "b"; c.pdf',
  open: async () => Readable.from([Buffer.from('first '), Buffer.from('second')]),
  ...more,
})

describe('sends, against crabline', () => {
  test('every special character of MarkdownV2 in a text is escaped', async () => {
    const text = 'Grüße! 1+1=2 (see [a](b)) _x_ *y* ~z~ `c` > q # h - | {k} . \\ 😀'
    const outcome = await link.send(message({ text }), never())
    expect(outcome).toMatchObject({
      kind: 'accepted',
      providerId: expect.stringMatching(`^${BOT}/100001/\\d+$`),
    })
    expect(io.reports.at(-1)?.state).toBe('up')
    const { body, accepted } = telegram.callsOf('sendMessage').at(-1)!
    expect(accepted).toBe(true)
    expect(body).toMatchObject({ chat_id: '100001', parse_mode: 'MarkdownV2' })
    // Without the escapes it is the original text, and every special character has one.
    expect((body['text'] as string).replace(/\\(.)/g, '$1')).toBe(text)
    expect((body['text'] as string).replace(/\\./g, '')).not.toMatch(/[_*[\]()~`>#+\-=|{}.!\\]/)
  })

  test('a text of 4,096 characters is accepted, not counting its escapes, and a longer one is rejected', async () => {
    expect(await link.send(message({ text: '!'.repeat(4_096) }), never())).toMatchObject({ kind: 'accepted' })
    expect(await link.send(message({ text: '!'.repeat(4_097) }), never())).toMatchObject({
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      providerCode: '400',
    })
  })

  test.each([
    ['image', 'sendPhoto', 'photo'],
    ['video', 'sendVideo', 'video'],
    ['audio', 'sendAudio', 'audio'],
    ['document', 'sendDocument', 'document'],
  ] as const)('%s is sent by its public URL with a caption', async (type, method, field) => {
    const publicUrl = 'https://cdn.example.org/file.bin'
    const outcome = await link.send(
      message({ text: 'Look: it is here.', files: [file({ type, publicUrl })] }),
      never(),
    )
    expect(outcome).toMatchObject({ kind: 'accepted' })
    expect(telegram.callsOf(method).at(-1)).toMatchObject({
      accepted: true,
      body: { [field]: publicUrl, caption: 'Look: it is here\\.', parse_mode: 'MarkdownV2' },
    })
  })

  test('an uploaded file is sent under a name without special characters', async () => {
    const outcome = await link.send(message({ text: '', files: [file()] }), never())
    expect(outcome).toMatchObject({ kind: 'accepted' })
    const { body } = telegram.callsOf('sendDocument').at(-1)!
    expect(Object.values(body)).toContain('a _b__ c.pdf')
    expect(body).not.toHaveProperty('caption')
  })

  test('a file that fails while it is read ends in retry, and nothing is accepted', async () => {
    const before = telegram.calls.length
    async function* broken() {
      yield Buffer.alloc(100_000)
      throw new Error('the disk is gone')
    }
    const outcome = await link.send(
      message({ files: [file({ open: async () => Readable.from(broken()) })] }),
      never(),
    )
    expect(outcome).toEqual({ kind: 'retry', detail: 'the file could not be read', notAsked: true })
    expect(telegram.calls.slice(before).filter(each => each.accepted)).toEqual([])
  })

  test('a file over the size limit is rejected without a request', async () => {
    const before = telegram.calls.length
    const outcome = await link.send(
      message({ files: [file({ type: 'image', sizeBytes: 10_485_761 })] }),
      never(),
    )
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'MESSAGE_REJECTED' })
    expect(telegram.calls.length).toBe(before)
  })
})

describe('the Bot API, against crabline', () => {
  test('identifies the bot of a token, and reports an unknown token', async () => {
    const { bots } = link
    expect(await bots!.identify(telegram.token, never())).toMatchObject({
      kind: 'answer',
      value: {
        platformId: telegram.token.split(':')[0],
        name: 'Crabline',
        username: expect.stringMatching(/_bot$/),
      },
    })
    expect(await bots!.identify(`${telegram.token}x`, never())).toEqual({ kind: 'unauthorized' })
  })

  test('returns updates until they are confirmed, and waits for the next one', async () => {
    const { bots } = link
    const id = await telegram.say(7_001, '/start spring sale', { fromName: 'Ada', fromUsername: 'ada_l' })
    const ask = { offset: null, waitMs: 0 }
    const [first, again] = [
      await bots!.updates(telegram.token, ask, never()),
      await bots!.updates(telegram.token, ask, never()),
    ]
    expect(again).toEqual(first)
    expect(first).toMatchObject({
      kind: 'answer',
      value: [
        {
          id,
          chat: { chatId: '7001', userId: '7001', username: 'ada_l', firstName: 'Ada', lastName: null },
          what: {
            kind: 'message',
            start: { payload: 'spring sale' },
            message: { text: '/start spring sale', name: 'Ada', media: [] },
          },
        },
      ],
    })
    const waiting = bots!.updates(telegram.token, { offset: id + 1, waitMs: 50_000 }, never())
    const next = await telegram.say(7_001, 'Hello')
    expect(await waiting).toMatchObject({ kind: 'answer', value: [{ id: next }] })
  })

  test('one of two simultaneous polls ends in a conflict, and an aborted poll ends', async () => {
    const { bots } = link
    const stop = new AbortController()
    const stopped = bots!.updates(telegram.token, { offset: 1_000_000, waitMs: 50_000 }, stop.signal)
    const other = bots!.updates(telegram.token, { offset: 1_000_000, waitMs: 50_000 }, never())
    expect(await Promise.race([stopped, other])).toEqual({ kind: 'conflict', webhook: false })
    stop.abort()
    await telegram.say(7_001, 'Bye', { updateId: 1_000_001 })
    const answers = await Promise.all([stopped, other])
    expect(answers.map(({ kind }) => kind).sort()).toEqual(
      answers[0].kind === 'conflict' ? ['answer', 'conflict'] : ['conflict', 'unavailable'],
    )
  })
})
