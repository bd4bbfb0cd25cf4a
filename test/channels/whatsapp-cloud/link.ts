import type { Link } from '../../../src/channels/provider.ts'
import type { WhatsAppCloudConfig } from '../../../src/channels/whatsapp-cloud.ts'
import { type HttpPeer, type PeerAct, type PeerRequest, startHttpPeer } from '../../support/http-peer.ts'
import { createIo, type ObservedIo, outgoing } from '../conformance.ts'
import { whatsAppCloudFixture } from '../whatsapp-cloud.exchange.ts'

export type Session = { link: Link; peer: HttpPeer; io: ObservedIo; close(): Promise<void> }

/** Opens a link to a peer that handles each request as `act` returns. */
export async function openSession(
  act: (request: PeerRequest, nth: number) => PeerAct,
  options: { config?: Partial<WhatsAppCloudConfig>; io?: Partial<ObservedIo> } = {},
): Promise<Session> {
  const peer = await startHttpPeer(act)
  const io = Object.assign(createIo(), options.io)
  const config = { ...whatsAppCloudFixture.configFor(peer.url), ...options.config }
  const link = await whatsAppCloudFixture.provider.open(config, io)
  return {
    link,
    peer,
    io,
    async close() {
      await link.close()
      await peer.close()
    },
  }
}

export const json = (body: unknown, status = 200): PeerAct => ({ status, body: JSON.stringify(body) })

export const toAda = (more: Parameters<typeof outgoing>[1] = {}, nth = 1) =>
  outgoing(nth, { channel: 'official_chatapp', to: '+447700900123', text: 'short', ...more })
