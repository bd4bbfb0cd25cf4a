import type { Body } from './client.ts'
import { API_KEY_HINT, clientCommand } from './client-command.ts'
import { idempotencyHeaders } from './idempotency.ts'
import { card } from './show.ts'

export const start = clientCommand({
  usage:
    'verify start --to RECIPIENT [--channel local_sms] [--sender NAME] [--client-ip ADDRESS] ' +
    `[--idempotency-key KEY]   ${API_KEY_HINT}`,
  argCount: 0,
  options: {
    to: { type: 'string' },
    channel: { type: 'string' },
    sender: { type: 'string' },
    'client-ip': { type: 'string' },
    'idempotency-key': { type: 'string' },
  },
  call(given) {
    const sender = given.text('sender')
    const body = {
      to: given.required('to'),
      channel: given.text('channel'),
      sender: sender && { name: sender },
      clientIp: given.text('client-ip'),
    }
    return given.client.api('POST', '/verification/send', body, idempotencyHeaders(given))
  },
  show: showAttempt,
})

export const resend = clientCommand({
  usage: `verify resend (--id VERIFICATION | --to RECIPIENT) [--client-ip ADDRESS]   ${API_KEY_HINT}`,
  argCount: 0,
  options: { id: { type: 'string' }, to: { type: 'string' }, 'client-ip': { type: 'string' } },
  call: given =>
    given.client.api('POST', '/verification/resend', {
      verificationId: given.text('id'),
      to: given.text('to'),
      clientIp: given.text('client-ip'),
    }),
  show: showAttempt,
})

export const check = clientCommand({
  usage: `verify check CODE (--id VERIFICATION | --to RECIPIENT)   ${API_KEY_HINT}`,
  argCount: 1,
  options: { id: { type: 'string' }, to: { type: 'string' } },
  call: given =>
    given.client.api('POST', '/verification/verify', {
      verificationId: given.text('id'),
      to: given.text('to'),
      code: given.args[0],
    }),
  show: answer =>
    card([
      ['status', answer['status']],
      ['verification', answer['verificationId']],
      ['verified', answer['verifiedAt']],
    ]),
})

function showAttempt(answer: Body): string {
  return card([
    ['status', answer['status']],
    ['verification', answer['verificationId']],
    ['channel', (answer['channels'] as string[] | undefined)?.join(', ') ?? answer['channel']],
    ['expires', answer['expiresAt']],
    ['resend from', answer['resendAvailableAt']],
  ])
}
