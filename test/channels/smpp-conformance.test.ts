import type { Io } from '../../src/channels/provider.ts'
import type { SmppConfig } from '../../src/channels/smpp/config.ts'
import { smppProvider } from '../../src/channels/smpp.ts'
import { type SmscBehaviour, startSmsc } from '../support/smsc.ts'
import { type Behaviour, describeProvider, type Peer } from './conformance.ts'

const PASSWORD = 'password-marker-8d3e'

const BEHAVIOURS: Record<Behaviour, SmscBehaviour> = {
  accept: 'accept',
  reject: 'reject',
  throttle: 'throttle',
  'temporary-failure': 'temporary-failure',
  silent: 'silent',
  'reset-after-submit': 'reset-after-submit',
  'refuse-connection': 'refuse-connection',
  'garbage-answer': 'garbage',
  'slow-connect': 'slow-connect',
}

function configFor(port: number): SmppConfig {
  return { host: '127.0.0.1', port, systemId: 'posthorn', password: PASSWORD, window: 10 }
}

async function open(behaviour: Behaviour, io: Io) {
  const smsc = await startSmsc(BEHAVIOURS[behaviour])
  const peer: Peer = {
    ...smsc,
    submits: () => smsc.submits.length,
    async inbound() {
      smsc.deliver({ esm_class: 4, short_message: 'id:id-1 stat:DELIVRD err:000' })
      await smsc.acknowledged(1)
    },
  }
  return { link: await smppProvider.open(configFor(smsc.port), io), peer }
}

describeProvider('smpp', {
  provider: smppProvider,
  config: {
    ...configFor(2775),
    systemType: 'VMA',
    tls: true,
    tlsCa: '-----BEGIN CERTIFICATE-----',
    tlsServerName: 'smsc.example.org',
    bindMode: 'tx_rx',
    binds: 2,
    messagesPerSecond: 50,
    serviceType: 'CMT',
    sourceAddress: '+4915112345',
    sourceTon: 1,
    sourceNpi: 1,
    destTon: 1,
    destNpi: 1,
    receiptIdFormat: 'dec-to-hex',
    responseTimeoutMs: 5000,
    enquireLinkMs: 10_000,
    throttleMs: 500,
  },
  secrets: [PASSWORD],
  open,
  message: { channel: 'local_sms', to: '+491701234567', from: 'Posthorn' },
})
