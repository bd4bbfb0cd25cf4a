import { Problem } from '../../contract/errors.ts'
import type { SessionSnapshot } from './snapshot.ts'

/**
 * The session that a message leaves over: the one that its conversation names, else
 * the oldest that is open. Throws NOT_FOUND for a name that no session has, and
 * SESSION_NOT_OPEN for one that is not linked or that has been away for longer.
 */
export function chooseSession(
  name: string | undefined,
  sessions: readonly SessionSnapshot[],
): SessionSnapshot {
  if (name === undefined) {
    const first = sessions.find(each => each.state === 'open') ?? sessions.find(takesMessages)
    if (!first) throw notOpen('', 'this account has no web session that is open')
    return first
  }
  const session = sessions.find(each => each.name === name)
  if (!session) {
    throw new Problem('NOT_FOUND', `There is no web session "${name}"`, {
      details: [{ path: 'conversationContext.accountId', message: 'there is no such web session' }],
    })
  }
  if (!takesMessages(session)) {
    throw notOpen('conversationContext.accountId', `the web session "${name}" is ${session.state}`)
  }
  return session
}

/** One that is linked and whose line dropped a moment ago connects by itself: its messages wait for that. */
function takesMessages({ state, paired }: SessionSnapshot): boolean {
  return state === 'open' || (state === 'connecting' && paired)
}

function notOpen(path: string, message: string): Problem {
  return new Problem('SESSION_NOT_OPEN', `The web session is not open: ${message}`, {
    details: [{ path, message }],
  })
}
