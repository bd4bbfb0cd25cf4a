import { startChatappServer } from '../support/chatapp-server.ts'
import { type Figure, fixed, note } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const PHONE = '+12025550123'
const MAX_SECONDS = 3
const PATIENCE_MS = 20_000
/** A connection that drops sooner counts as failed, and after some of those reconnects become slower. */
const STEADY_MS = 2_000

/**
 * The time from cutting a web session's connection to the arrival of a message that was sent right after the
 * cut. The slowest round counts.
 */
export async function measureSessions(quick: boolean): Promise<Figure[]> {
  note('A web session whose line is cut, with a message sent behind the cut')
  const chatapp = await startChatappServer()
  const system = await startSystem({ accounts: 1 })
  try {
    await openSession(system, chatapp.url)
    const lags: number[] = []
    for (let round = 0; round < (quick ? 3 : 20); round++) {
      const cutMs = performance.now()
      chatapp.cut()
      const arrived = chatapp.next(node => node.tag === 'message')
      await send(system)
      await arrived
      lags.push(performance.now() - cutMs)
      await untilOpen(system)
      await pause(STEADY_MS)
    }
    const sorted = lags.toSorted((a, b) => a - b)
    const [median, slowest] = [sorted[Math.floor(sorted.length / 2)]!, sorted.at(-1)!]
    note(`  ${fixed(median, 0)} ms in the middle, ${fixed(slowest, 0)} ms at most`)
    return [
      {
        name: 'web session, drop to next message',
        measured: `${fixed(median, 0)} ms, at most ${fixed(slowest, 0)} ms`,
        baseline: '–',
        value: slowest / 1_000,
        unit: ' s',
        target: { most: MAX_SECONDS },
      },
    ]
  } finally {
    await system.stop()
    await chatapp.close()
  }
}

async function openSession(system: System, socketUrl: string): Promise<void> {
  await system.admin('POST', '/connections', {
    provider: 'whatsapp-web',
    name: 'sessions',
    channels: ['user_chatapp_session'],
    config: { socketUrl, messagesPerMinute: 6_000, freshMessagesPerMinute: 6_000 },
  })
  const answer = await system.call('POST', '/chatapp-sessions', { name: 'bench', phone: '+15550000000' })
  if (answer.status !== 201)
    throw new Error(`a session was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
  await untilOpen(system)
}

async function untilOpen(system: System): Promise<void> {
  const giveUpMs = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await system.call('GET', '/chatapp-sessions/bench', undefined)
    const { data } = (await answer.json()) as { data: { state: string } }
    if (data.state === 'open') return
    if (performance.now() > giveUpMs) throw new Error(`the session is ${data.state}`)
    await pause(50)
  }
}

async function send(system: System): Promise<void> {
  const conversationContext = { moduleType: 'chatapp_web', accountId: 'bench', chatId: PHONE }
  const answer = await system.call('POST', '/messages/send', {
    to: PHONE,
    text: 'Hello',
    conversationContext,
  })
  if (answer.status !== 200) throw new Error(`a send was answered ${answer.status}: ${await answer.text()}`)
  await answer.arrayBuffer()
}
