import smpp from 'smpp'
import { afterEach, expect, test } from 'vitest'
import { createLinks, type LinkSpec } from '../../src/channels/links.ts'
import type { Io, LinkState, Provider } from '../../src/channels/provider.ts'
import { smppProvider } from '../../src/channels/smpp.ts'
import type { AccountId, ConnectionId } from '../../src/lib/ids.ts'
import { createRandom } from '../../src/lib/random.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { createSignals } from '../support/signals.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { never, outgoing } from './conformance.ts'

const SMS = outgoing(1, { channel: 'int_sms', to: '+15550001111' })

/** The settings of a connection change, so its link is replaced, at an SMSC that allows one bind per account. */
const ALREADY_BOUND = 0x05
const BIND_FAILED = 0x0d

let smsc: Smsc
let close: () => Promise<void>
afterEach(async () => {
  await close()
  await smsc.close()
})

async function open(status: number, answers: boolean) {
  smsc = await startSmsc(answers ? 'accept' : 'silent', { oneBind: status })
  const clock = createFakeClock()
  const signals = createSignals()
  const states: LinkState[] = []
  let revision = 1
  const links = createLinks({
    clock,
    readSpecs: async () => [spec()],
    providers: new Map([['smpp', smppProvider as unknown as Provider]]),
    openConfig: async () => ({
      host: '127.0.0.1',
      port: smsc.port,
      systemId: 'posthorn',
      password: 'secret',
    }),
    io: (_, report) =>
      ({
        clock,
        random: { ...createRandom(), fraction: () => 1 },
        log: { info() {}, warn() {}, debug() {} },
        emit: async () => {},
        reportLateOutcome: async () => {},
        report(state: LinkState) {
          states.push(state)
          report(state)
          signals.notify()
        },
      }) as unknown as Io,
    log: { info() {}, warn() {}, debug() {} },
    changed() {},
  })
  close = links.close
  const spec = (): LinkSpec => ({
    id: 'cnn_00000000000000000000000001' as ConnectionId,
    accountId: 'acc_00000000000000000000000001' as AccountId,
    provider: 'smpp',
    channels: ['int_sms'],
    enabled: true,
    revision,
    retryPolicy: { maxAttempts: 3, backoffMs: 1_000 },
  })
  await links.sync()
  await smsc.bound(1)
  await signals.until(() => states.some(({ state }) => state === 'up'))
  const link = () => links.get(spec().id)!
  return {
    clock,
    link,
    async replace() {
      revision = 2
      await links.sync()
    },
    refused: () => signals.until(() => states.some(({ state }) => state === 'down')),
  }
}

test.each([ALREADY_BOUND, BIND_FAILED])(
  'a new bind that is refused with status %i comes up once the old bind is closed',
  async status => {
    const { link, replace } = await open(status, true)
    await replace()
    await smsc.bound(2)
    expect(await link().link.send(SMS, never())).toMatchObject({ kind: 'accepted' })
    expect(smsc.submits).toHaveLength(1)
  },
)

test('the old bind stays until its pending response arrives, and the new bind follows at once', async () => {
  const { link, replace, refused } = await open(BIND_FAILED, false)
  const old = link()
  old.calls.begin()
  const sent = old.link.send(SMS, never()).finally(old.calls.end)
  await smsc.submitted(1)
  await replace()
  await refused()
  expect(await link().link.send(SMS, never())).toMatchObject({ kind: 'retry' })
  smsc.behave('accept')
  const { session, sequence } = smsc.submits[0]!
  session.send(new smpp.PDU('submit_sm_resp', { sequence_number: sequence, message_id: 'late' }))
  expect(await sent).toMatchObject({ kind: 'accepted' })
  await smsc.bound(2)
  expect(smsc.submits).toHaveLength(1)
})
