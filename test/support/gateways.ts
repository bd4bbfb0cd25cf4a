import { whatsAppCloudFixture } from '../channels/whatsapp-cloud.exchange.ts'
import type { TestAccount, TestApp } from './app.ts'
import { type HttpPeer, type PeerAct, startHttpPeer } from './http-peer.ts'

/** A scripted gateway and its connection. */
export type Gateway = {
  peer: HttpPeer
  connectionId: string
  /** Sets its responses from now on; `nth` counts from 1 since then. */
  act(next: PeerAct | ((nth: number) => PeerAct)): void
  close(): Promise<void>
}

export type GatewayOptions = {
  account?: TestAccount
  priorityOrder?: number
  retryPolicy?: { maxAttempts: number; backoffMs: number }
  allowedTypes?: string[]
  sendModeByType?: Record<string, string>
  /** Additional configuration. */
  config?: object
}

const json = (status: number, body: unknown): PeerAct => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

/** Responses of the SMS gateway. */
export const taken = (nth: number) => json(200, { id: `taken-${nth}` })
export const noSuchNumber = json(400, { error: 'nobody' })
export const notNow = json(503, { error: 'later' })
export const slowDown = json(429, { error: 'slower' })

/** An SMS gateway for the provider `http-sms`, with its connection. */
export async function startSmsGateway(app: TestApp, options: GatewayOptions = {}): Promise<Gateway> {
  return start(app, 'http-sms', ['local_sms', 'int_sms'], options, url => ({
    request: {
      url: `${url}/send`,
      json: { to: '{{to}}', text: '{{text}}', from: '{{from}}', attempt: '{{attemptId}}' },
    },
    answer: {
      format: 'json',
      id: 'id',
      error: 'error',
      errors: { nobody: { means: 'recipient' }, later: { means: 'later' }, slower: { means: 'throttled' } },
      notTakenHttpStatuses: [503],
    },
  }))
}

/**
 * WhatsApp's Cloud API as in `test/channels/whatsapp-cloud.exchange.ts`, without its 24-hour window for free
 * text.
 */
export async function startChatGateway(app: TestApp, options: GatewayOptions = {}): Promise<Gateway> {
  const noWindow = { sendModeByType: { free_text: 'plain_text' }, ...options }
  return start(app, 'whatsapp-cloud', ['official_chatapp'], noWindow, whatsAppCloudFixture.configFor)
}

async function start(
  app: TestApp,
  provider: string,
  channels: string[],
  { account, config, ...rest }: GatewayOptions,
  configFor: (url: string) => object,
): Promise<Gateway> {
  let next: (nth: number) => PeerAct = taken
  let sends = 0
  let since = 0
  const peer = await startHttpPeer(request => {
    // The provider queries its sender at times.
    if (request.method === 'GET') return json(404, {})
    sends++
    return next(sends - since)
  })
  const answer = await app.admin('POST', '/connections', {
    provider,
    name: provider,
    channels,
    config: { ...configFor(peer.url), ...config },
    retryPolicy: { maxAttempts: 2, backoffMs: 100 },
    ...(account && { accountId: account.id }),
    ...rest,
  })
  if (answer.status !== 201) throw new Error(`no connection: ${answer.text}`)
  return {
    peer: {
      ...peer,
      get requests() {
        return peer.requests.filter(request => request.method !== 'GET')
      },
    },
    connectionId: (answer.body['data'] as { connection: { id: string } }).connection.id,
    act(act) {
      since = sends
      next = typeof act === 'function' ? act : () => act
    },
    close: async () => void (await peer.close()),
  }
}
