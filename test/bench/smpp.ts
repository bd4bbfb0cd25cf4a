import type { Io, Outgoing } from '../../src/channels/provider.ts'
import { smppProvider } from '../../src/channels/smpp.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createRandom } from '../../src/lib/random.ts'
import { startSink } from './sink.ts'

/**
 * What the SMPP provider costs: messages a second and CPU a message of this
 * process, against a sink in another one that answers at once.
 *
 *     node test/bench/smpp.ts [messages]
 */
const MESSAGES = Math.min(Number(process.argv[2] ?? 20_000), 200_000)
const TEXT = 'Your code for the shop is 123456. It is valid for ten minutes; tell it to nobody. Ok?'

async function main(): Promise<void> {
  for (const receipts of [false, true]) {
    const sink = await startSink({ receipts })
    await measure(sink.port, receipts, Math.min(MESSAGES, 5_000))
    const result = await measure(sink.port, receipts, MESSAGES)
    console.log(JSON.stringify({ receipts, messages: MESSAGES, ...result }))
    await sink.stop()
  }
}

async function measure(port: number, receipts: boolean, messages: number) {
  let received = 0
  let allReceived: () => void = () => {}
  const receiptsIn = new Promise<void>(resolve => {
    allReceived = resolve
  })
  const io: Io = {
    connectionId: 'cnn_00000000000000000000000001',
    receiptUrl: null,
    receiptToken: 'receipt-token',
    vault: { read: async () => null },
    clock: systemClock,
    random: createRandom(),
    log: { info() {}, warn() {}, debug() {} },
    emit(inbound) {
      received += inbound.length
      if (received === messages) allReceived()
      return Promise.resolve()
    },
    tellLate: () => Promise.resolve(),
    report() {},
  }
  const link = await smppProvider.open({ host: '127.0.0.1', port, systemId: 'bench', password: '' }, io)
  await link.test!(AbortSignal.timeout(5000))
  const signal = new AbortController().signal
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  let next = 0
  async function lane(): Promise<void> {
    while (next < messages) {
      const outcome = await link.send(message(next++), signal)
      if (outcome.kind !== 'accepted') throw new Error(JSON.stringify(outcome))
    }
  }
  await Promise.all(Array.from({ length: link.concurrency }, lane))
  if (receipts) await receiptsIn
  const tookMs = performance.now() - startMs
  const used = process.cpuUsage(cpu)
  await link.close()
  return {
    perSecond: Math.round((messages * 1000) / tookMs),
    cpuMicrosPerMessage: Number(((used.user + used.system) / messages).toFixed(1)),
  }
}

function message(number: number): Outgoing {
  return {
    attemptId: `msg_${number}.1`,
    messageId: `msg_${number}`,
    accountId: 'acc_1',
    attempt: 1,
    channel: 'local_sms',
    messageType: 'otp',
    to: `+49170${1_000_000 + number}`,
    from: 'Posthorn',
    text: TEXT,
    subject: null,
    html: false,
    files: [],
    template: null,
  }
}

await main()
