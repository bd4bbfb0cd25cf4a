import { lookUntil } from '../../support/look-until.ts'
import { OPERATOR_TOKEN } from './posthorn.ts'

/** The response to one request. */
export type Answer = { status: number; text: string; replayed: boolean }
export type Account = { id: string; liveKey: string }
export type Job = { account: Account; body: Record<string, unknown>; key: string; marker: string }

/** The response, or null if there was none. */
export async function ask(
  url: string,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<(Answer & { headers: Headers }) | null> {
  try {
    const response = await fetch(url + path, {
      method: options.method ?? 'GET',
      headers: {
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      text,
      headers: response.headers,
      replayed: response.headers.get('idempotency-replayed') === 'true',
    }
  } catch {
    return null
  }
}

export function send(url: string, { account, body, key }: Omit<Job, 'marker'>) {
  return ask(url, '/api/v2/messages/send', {
    method: 'POST',
    headers: { 'x-api-key': account.liveKey, 'idempotency-key': key },
    body,
  })
}

/**
 * Sends, and waits until the message is sent: then the node knows the account and is connected to the
 * provider. It reads the message for that, since the response may come before the connection is up, and
 * repeats only replay it.
 */
export async function sendUntilSent(url: string, { account, body, key }: Omit<Job, 'marker'>): Promise<void> {
  const answer = await until(
    () => send(url, { account, key, body }),
    found => found?.status === 200,
  )
  const { messageId } = (JSON.parse(answer!.text) as { tracking: { messageId: string } }).tracking
  await until(
    () => read<{ status: string }>(url, account, `/api/v2/messages/${messageId}`),
    found => found.status === 'sent',
  )
}

/**
 * A read that must succeed, repeated as long as it is answered with a 503; resolves with the `data` of the
 * response.
 */
export async function read<T>(url: string, account: Account, path: string): Promise<T> {
  const answer = await until(
    () => ask(url, path, { headers: { 'x-api-key': account.liveKey } }),
    found => found?.status !== 503,
  )
  if (answer?.status !== 200) throw new Error(`GET ${path}: ${answer?.status} ${answer?.text}`)
  return (JSON.parse(answer.text) as { data: T }).data
}

export async function admin<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const answer = await ask(url, `/api/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    body,
  })
  if (!answer || answer.status >= 300) throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`)
  return (JSON.parse(answer.text) as { data: T }).data
}

export async function createAccount(
  url: string,
  options: { balance: number; pool?: { channels: string[]; limit: number }[] },
): Promise<Account> {
  const { account, liveKey } = await admin<{ account: { id: string }; liveKey: string }>(
    url,
    'POST',
    '/accounts',
    {
      name: 'Acme',
      homeCountry: 'US',
      currency: 'USD',
      phone: { number: '+12025550123', verified: true },
      balance: options.balance,
      plan: { rateLimitPerSecond: 100_000, allowsScheduling: true, pool: options.pool ?? [] },
    },
  )
  return { id: account.id, liveKey }
}

/** Reads repeatedly until `holds`. */
export function until<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  withinMs = 30_000,
): Promise<T> {
  return lookUntil(read, holds, withinMs)
}
