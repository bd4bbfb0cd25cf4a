import { fromUuid, isId, toUuid } from '../../lib/ids.ts'

/**
 * The id of a message on the chat app, in the library's form: 3EB0 and
 * 36 hex digits, which are our message id and the number of the attempt. So a
 * receipt finds its attempt even if the submit was never answered.
 */
const OURS = /^3EB0([0-9A-F]{32})([0-9A-F]{4})$/

/** `attemptId` is `msg_….1`. */
export function messageIdOf(attemptId: string): string {
  const [id = '', attempt] = attemptId.split('.')
  if (!isId('msg', id)) throw new RangeError(`not the id of an attempt: ${attemptId}`)
  const number = Number(attempt).toString(16).padStart(4, '0')
  return `3EB0${toUuid(id).replaceAll('-', '')}${number}`.toUpperCase()
}

/** The attempt's id; null for a message that we did not send. */
export function attemptIdOf(messageId: string): string | null {
  const [, uuid, attempt] = OURS.exec(messageId) ?? []
  return uuid && attempt ? `${fromUuid('msg', uuid.toLowerCase())}.${Number.parseInt(attempt, 16)}` : null
}
