import type { Io, Link, Outcome, Outgoing, Provider } from '../../src/channels/provider.ts'
import {
  type HttpPeer,
  nobodyListens,
  type PeerAct,
  startHttpPeer,
  startMutePeer,
} from '../support/http-peer.ts'
import type { Behaviour } from './conformance.ts'

/** A provider over HTTP as its tests see it: how to reach it, and what the real one would say. */
export type HttpFixture<C> = {
  provider: Provider<C>
  /** Valid, with every field that a test may need. */
  configFor(baseUrl: string): C
  /** The real one's answer to the nth message. */
  taken(nth: number): { status: number; body: string }
  refused: PeerAct
  throttled: PeerAct
  notNow: PeerAct
  /** Its answer to the operator's test. */
  tested: PeerAct
}

/** One line of a provider's exchange table. */
export type Exchange<C> = {
  name: string
  config?: Partial<C>
  message?: Partial<Outgoing>
  /** What must have been asked; only what is named is compared. */
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
  /** What the link reports then. */
  link?: 'up' | 'down'
}

export const SMS: Partial<Outgoing> = { channel: 'int_sms', to: '+447700900123', from: 'Acme' }

/** Opens a link to a far side that shows one of the behaviours of the conformance suite. */
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
