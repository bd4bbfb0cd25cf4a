import type { Answer } from '../core/messages/answers.ts'

type Reply = { code(status: number): Reply; header(name: string, value: string | number): Reply }

/** Sends an answer as the bytes that it is. */
export function sendAnswer(answer: Answer, reply: Reply): string {
  reply.code(answer.status).header('Content-Type', 'application/json; charset=utf-8')
  if (answer.replayed) reply.header('Idempotency-Replayed', 'true')
  if (answer.sandbox) reply.header('X-Sandbox', 'true')
  if (answer.retryAfterSeconds !== null) reply.header('Retry-After', answer.retryAfterSeconds)
  return answer.body
}
