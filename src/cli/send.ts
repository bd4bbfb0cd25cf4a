import type { Body } from './client.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { idempotencyHeaders } from './idempotency.ts'
import { card } from './show.ts'

export const run = clientCommand({
  usage:
    'send --to RECIPIENT --text TEXT [--channel auto] [--type utility] [--subject TEXT] [--sender NAME] ' +
    `[--idempotency-key KEY] [--at 2030-01-31T09:00:00Z]   ${API_KEY_HINT}`,
  argCount: 0,
  options: {
    to: { type: 'string' },
    text: { type: 'string' },
    channel: { type: 'string' },
    type: { type: 'string' },
    subject: { type: 'string' },
    sender: { type: 'string' },
    at: { type: 'string' },
    'idempotency-key': { type: 'string' },
  },
  call(given) {
    const sender = given.text('sender')
    const body = {
      to: given.required('to'),
      channel: given.text('channel'),
      messageType: given.text('type'),
      content: { text: given.required('text'), subject: given.text('subject') },
      sender: sender && { name: sender },
      options: { scheduleAt: given.text('at') },
    }
    return given.client.api('POST', '/messages/send', body, idempotencyHeaders(given))
  },
  show: showResult,
})

function showResult(answer: Body): string {
  const { resolved, billing, tracking } = answer as {
    resolved: { channel: string; provider: string }
    billing: { estimatedCost: number; currency: string }
    tracking: { messageId: string }
  }
  return card([
    ['status', answer['status']],
    ['message', tracking.messageId],
    ['channel', resolved.channel],
    ['provider', resolved.provider],
    ['cost', `${billing.estimatedCost} ${billing.currency}`],
  ])
}
