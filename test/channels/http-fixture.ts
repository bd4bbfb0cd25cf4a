import type { Io, Link, Outcome, Outgoing, Provider } from '../../src/channels/provider.ts'
import {
  type HttpPeer,
  nobodyListens,
  type PeerAct,
  startHttpPeer,
  startMutePeer,
} from '../support/http-peer.ts'
import type { Behaviour } from './conformance.ts'

/** A provider over HTTP, as its tests need it: a configuration, and the responses of the real API. */
export type HttpFixture<C> = {
  provider: Provider<C>
  /** Valid, with every field that a test may need. */
  configFor(baseUrl: string): C
  /** The response of the real API to the nth message. */
  taken(nth: number): { status: number; body: string }
  refused: PeerAct
  throttled: PeerAct
  notNow: PeerAct
  /** The response to `test()` of the link. */
  tested: PeerAct
}

/** One row of a provider's table of exchanges. */
export type Exchange<C> = {
  name: string
  config?: Partial<C>
  message?: Partial<Outgoing>
  /** The expected request. Only the fields given here are compared. */
  request?: {
    method?: string
    path?: string
    headers?: Record<string, string>
    form?: Record<string, string>
    json?: unknown
    body?: string
  }
  answer: PeerAct
  outcome: Partial<Outcome>
  /** The state that the link reports afterwards. */
  link?: 'up' | 'down'
}

export const SMS: Partial<Outgoing> = { channel: 'int_sms', to: '+447700900123', from: 'Acme' }

/** Opens a link to a peer that simulates one of the behaviours of the conformance suite. */
export async function openFixture<C>(
  fixture: HttpFixture<C>,
  behaviour: Behaviour,
  io: Io,
): Promise<{ link: Link; peer: HttpPeer }> {
  const peer = await startPeer(fixture, behaviour)
  return { link: await fixture.provider.open(fixture.configFor(peer.url), io), peer }
}

function startPeer<C>(fixture: HttpFixture<C>, behaviour: Behaviour): Promise<HttpPeer> {
  if (behaviour === 'refuse-connection') return nobodyListens()
  if (behaviour === 'slow-connect') return startMutePeer()
  const acts: Record<typeof behaviour, (nth: number) => PeerAct> = {
    accept: nth => fixture.taken(nth),
    reject: () => fixture.refused,
    throttle: () => fixture.throttled,
    'temporary-failure': () => fixture.notNow,
    silent: () => 'silent',
    'reset-after-submit': () => 'reset',
    'garbage-answer': () => ({ raw: '%%%\x00\xff what?\r\n\r\n' }),
  }
  return startHttpPeer((request, nth) => (request.method === 'GET' ? fixture.tested : acts[behaviour](nth)))
}
