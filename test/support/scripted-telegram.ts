import { telegramError } from '../channels/telegram.exchange.ts'
import { type HttpPeer, type PeerAct, startHttpPeer } from './http-peer.ts'

type Fields = Record<string, unknown>
export type ScriptedCall = { path: string; token: string; method: string; body: Fields }

/**
 * A scripted Bot API, for what crabline does not have: refusals, groups that move, blocks, buttons, many
 * bots. It accepts every token; a poll for updates is never answered.
 */
export type ScriptedTelegram = {
  apiRoot: string
  calls: ScriptedCall[]
  callsOf(method: string): ScriptedCall[]
  /** The URL of the webhook of each token; empty after `deleteWebhook`. */
  webhooks: Map<string, string>
  /** Sets its responses from now on; null for the default. */
  answer(script: ((call: ScriptedCall) => PeerAct | null) | null): void
  ok(result: unknown): PeerAct
  error(code: number, description: string, parameters?: object): PeerAct
  close(): Promise<unknown>
}

export async function startScriptedTelegram(): Promise<ScriptedTelegram> {
  const calls: ScriptedCall[] = []
  const webhooks = new Map<string, string>()
  let script: ((call: ScriptedCall) => PeerAct | null) | null = null
  const peer: HttpPeer = await startHttpPeer(request => {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(request.path) ?? []
    const call = { path: request.path, token, method, body: JSON.parse(request.body || '{}') as Fields }
    calls.push(call)
    return script?.(call) ?? usual(call, calls.length, webhooks)
  })
  return {
    apiRoot: peer.url,
    calls,
    webhooks,
    callsOf: method => calls.filter(each => each.method === method),
    answer(next) {
      script = next
    },
    ok,
    error: telegramError,
    close: peer.close,
  }
}

function usual({ token, method, body }: ScriptedCall, nth: number, webhooks: Map<string, string>): PeerAct {
  switch (method) {
    case 'getMe':
      return ok({
        id: Number(token.split(':')[0]),
        is_bot: true,
        first_name: 'Scripted',
        username: 'scripted_bot',
      })
    case 'getUpdates':
      return 'silent'
    case 'setWebhook':
    case 'deleteWebhook':
      webhooks.set(token, method === 'setWebhook' ? String(body['url']) : '')
      return ok(true)
    case 'getWebhookInfo':
      return ok({ url: webhooks.get(token) ?? '', has_custom_certificate: false, pending_update_count: 0 })
    default:
      return ok({
        message_id: nth,
        date: 1_795_000_000,
        chat: { id: Number(body['chat_id']), type: 'private' },
      })
  }
}

function ok(result: unknown): PeerAct {
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ok: true, result }),
  }
}
