import { Problem } from '../../contract/errors.ts'
import type { SessionSnapshot } from './snapshot.ts'

/**
 * The session over which a message is sent: the one that its conversation names, else
 * the oldest open one. Throws NOT_FOUND for an unknown name, and
 * SESSION_NOT_OPEN if the session neither is open nor reconnects.
 */
export function chooseSession(
  name: string | undefined,
  sessions: readonly SessionSnapshot[],
): SessionSnapshot {
  if (name === undefined) {
    const first =
      sessions.find(each => !each.sandbox && each.state === 'open') ?? sessions.find(acceptsMessages)
    if (!first) throw notOpen('', 'this account has no open web session')
    return first
  }
  const session = sessions.find(each => each.name === name)
  if (!session) {
    throw new Problem('NOT_FOUND', `There is no web session "${name}"`, {
      details: [{ path: 'conversationContext.accountId', message: 'there is no such web session' }],
    })
  }
  if (!acceptsMessages(session)) {
    const state = session.sandbox ? 'in the sandbox: restart it to link it' : session.state
    throw notOpen('conversationContext.accountId', `the web session "${name}" is ${state}`)
  }
  return session
}

/** A linked session that is reconnecting takes messages too: they wait until it is open. */
function acceptsMessages({ state, sandbox, paired }: SessionSnapshot): boolean {
  return !sandbox && (state === 'open' || (state === 'connecting' && paired))
}

function notOpen(path: string, message: string): Problem {
  return new Problem('SESSION_NOT_OPEN', `The web session is not open: ${message}`, {
    details: [{ path, message }],
  })
}
