import { isId, type MessageId } from '../../lib/ids.ts'

/** What providers are handed to know an attempt by, unique over the whole message: `msg_….1`. */
export function attemptIdOf(id: MessageId, attempt: number): string {
  return `${id}.${attempt}`
}

/** The message and the attempt's number; null for what is no such id: it comes back from outside. */
export function readAttemptId(text: string): { id: MessageId; attempt: number } | null {
  const [id = '', number = ''] = text.split('.')
  return isId('msg', id) && /^[1-9]\d{0,3}$/.test(number) ? { id, attempt: Number(number) } : null
}
