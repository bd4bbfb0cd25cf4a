import type { Io } from '../../../src/channels/provider.ts'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { openWebSession } from '../../../src/channels/whatsapp-web/session.ts'
import { whatsAppWebProvider } from '../../../src/channels/whatsapp-web.ts'
import { type Script, startChatappServer } from '../../support/chatapp-server.ts'
import { createSessionIo } from '../../support/web-session-io.ts'
import { type Behaviour, describeProvider, type ObservedIo, type Peer } from '../conformance.ts'

/** Scripts of the scripted server. Crabline's server is not used here, because it accepts every message. */
const SCRIPTS: Partial<Record<Behaviour, Partial<Script>>> = {
  accept: {},
  reject: { message: { error: '403' } },
  throttle: { message: { error: '429' } },
  'temporary-failure': { message: { error: '503' } },
  silent: { message: 'silent' },
  'reset-after-submit': { message: 'cut' },
  'garbage-answer': { message: 'garbage' },
}

async function open(behaviour: Behaviour, io: Io) {
  const server = await startChatappServer(SCRIPTS[behaviour] ?? {})
  const own = createSessionIo({ io: io as ObservedIo, pairedAtMs: 0 })
  const link = await openWebSession(withWebDefaults({ socketUrl: server.url }), own)
  await own.said('open')
  const messages = () => server.received.filter(node => node.tag === 'message').length
  const peer: Peer = {
    connected: server.connected,
    async submitted(count) {
      while (messages() < count) await server.next(node => node.tag === 'message')
    },
    submits: messages,
    idle: () => server.lines(0),
    async inbound() {
      server.send({
        tag: 'message',
        attrs: { from: '12025550123@s.whatsapp.net', id: 'IN-1', t: '1767225600', notify: 'Ada' },
        content: [
          { tag: 'plaintext', attrs: {}, content: Buffer.concat([Buffer.from([10, 2]), Buffer.from('hi')]) },
        ],
      })
    },
    close: server.close,
  }
  return { link, peer }
}

describeProvider('whatsapp-web', {
  provider: whatsAppWebProvider,
  config: {
    socketUrl: 'wss://chat.example.org/ws',
    tlsCa: '-----BEGIN CERTIFICATE-----',
    messagesPerMinute: 30,
    freshMessagesPerMinute: 10,
    warmUpDays: 14,
    checkRecipients: false,
    deviceName: 'Front desk',
  },
  secrets: [],
  open,
  message: { channel: 'user_chatapp_session', to: '+12025550123', from: 'front-desk' },
  notApplicable: {
    'refuse-connection': 'a session accepts messages only while it is open',
    'slow-connect': 'a session accepts messages only while it is open',
  },
})
