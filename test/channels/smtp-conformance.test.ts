import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { Io } from '../../src/channels/provider.ts'
import { type SmtpConfig, smtpProvider } from '../../src/channels/smtp.ts'
import { type SmtpScript, startSmtpServer } from '../support/smtp-server.ts'
import { type Behaviour, describeProvider, type Peer } from './conformance.ts'

const PASSWORD = 'password-marker-5b1f'

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
const KEY_LINE = PEM.split('\n')[5]!

const SCRIPTS: Record<Exclude<Behaviour, 'refuse-connection'>, SmtpScript> = {
  accept: {},
  reject: { rcpt: { reply: '550 5.1.1 no such user' } },
  throttle: { mail: { reply: '421 4.7.0 too many connections from you' } },
  'temporary-failure': { rcpt: { reply: '450 4.2.1 mailbox busy' } },
  silent: { end: 'silent' },
  'reset-after-submit': { end: 'reset' },
  'garbage-answer': { end: { raw: '%%%\x00\xff what?\r\n' } },
  'slow-connect': { connect: 'silent' },
}

function configFor(port: number): SmtpConfig {
  return {
    host: '127.0.0.1',
    port,
    secure: false,
    user: 'sender',
    password: PASSWORD,
    from: 'Posthorn <no-reply@example.org>',
    dkim: { domainName: 'example.org', keySelector: 's1', privateKey: PEM },
  }
}

async function open(behaviour: Behaviour, io: Io) {
  const peer = behaviour === 'refuse-connection' ? await closedPort() : await startPeer(SCRIPTS[behaviour])
  return { link: await smtpProvider.open(configFor(peer.port), io), peer }
}

const startPeer = (script: SmtpScript) => startSmtpServer(script, { allowInsecureAuth: true })

/** A peer on a port where nothing listens. */
async function closedPort(): Promise<Peer & { port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const done = () => Promise.resolve()
  return { port, connected: done, submitted: done, submits: () => 0, idle: done, close: done }
}

describeProvider('smtp', {
  provider: smtpProvider,
  config: {
    ...configFor(587),
    requireTls: true,
    tlsCa: '-----BEGIN CERTIFICATE-----',
    maxConnections: 5,
    messagesPerSecond: 50,
  },
  secrets: [PASSWORD, KEY_LINE],
  open,
  message: { subject: 'Hello' },
})
