import type { WebSessionView } from '../../src/contract/web-session.ts'
import type { Answer, TestAccount, TestApp } from './app.ts'

/**
 * Creates a connection for web sessions to the test's server, so fast that tests need not wait; returns its
 * id.
 */
export async function connectWebSessions(
  app: TestApp,
  socketUrl: string,
  config: Record<string, unknown> = {},
): Promise<string> {
  const answer = await app.admin('POST', '/connections', {
    provider: 'whatsapp-web',
    name: 'Web sessions',
    channels: ['user_chatapp_session'],
    config: { socketUrl, messagesPerMinute: 6_000, freshMessagesPerMinute: 6_000, ...config },
  })
  if (answer.status !== 201) throw new Error(`no connection: ${answer.text}`)
  return (answer.body['data'] as { connection: { id: string } }).connection.id
}

/** The session API of an account, with its live key by default. */
export function sessionsOf(app: TestApp, account: TestAccount) {
  const call = (method: string, path = '', body?: unknown, key = account.liveKey): Promise<Answer> =>
    app.call(`/api/v2/chatapp-sessions${path}`, { method, key, ...(body !== undefined && { body }) })

  async function read(name: string): Promise<WebSessionView> {
    const answer = await call('GET', `/${name}`)
    if (answer.status !== 200) throw new Error(`GET ${name}: ${answer.status} ${answer.text}`)
    return answer.body['data'] as WebSessionView
  }

  /** Waits until the session has this state, and a second more, after which sends use it too. */
  async function until(name: string, state: WebSessionView['state']): Promise<WebSessionView> {
    const found = await app.until(
      () => read(name),
      view => view.state === state,
    )
    await app.pass(1_000)
    return found
  }

  return {
    call,
    read,
    until,
    create: (body: unknown, key?: string) => call('POST', '', body, key),
    /** Creates a session, and waits until it is open. */
    async open(name: string, phone = '+15550000000'): Promise<WebSessionView> {
      const answer = await call('POST', '', { name, phone })
      if (answer.status !== 201) throw new Error(`no session: ${answer.text}`)
      return until(name, 'open')
    },
  }
}
