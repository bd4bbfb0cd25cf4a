import { isId, type MessageId } from '../../lib/ids.ts'

/** The id under which an attempt is submitted, such as `msg_….1`; never used again for the message. */
export function attemptIdOf(id: MessageId, attempt: number): string {
  return `${id}.${attempt}`
}

/** The message and the number of an attempt; null for other texts, since the input comes from providers. */
export function readAttemptId(text: string): { id: MessageId; attempt: number } | null {
  const [id = '', number = ''] = text.split('.')
  return isId('msg', id) && /^[1-9]\d{0,3}$/.test(number) ? { id, attempt: Number(number) } : null
}
