import type { Body } from './client.ts'
import { clientCommand, WITH_KEY } from './client-command.ts'
import { onceHeaders } from './once.ts'
import { card } from './show.ts'

export const start = clientCommand({
  usage:
    'verify start --to RECIPIENT [--channel local_sms] [--sender NAME] [--client-ip ADDRESS] ' +
    `[--idempotency-key KEY]   ${WITH_KEY}`,
  words: 0,
  options: {
    to: { type: 'string' },
    channel: { type: 'string' },
    sender: { type: 'string' },
    'client-ip': { type: 'string' },
    'idempotency-key': { type: 'string' },
  },
  ask(given) {
    const sender = given.text('sender')
    const body = {
      to: given.needed('to'),
      channel: given.text('channel'),
      sender: sender && { name: sender },
      clientIp: given.text('client-ip'),
    }
    return given.client.api('POST', '/verification/send', body, onceHeaders(given))
  },
  show: showAttempt,
})

export const resend = clientCommand({
  usage: `verify resend (--id VERIFICATION | --to RECIPIENT)   ${WITH_KEY}`,
  words: 0,
  options: { id: { type: 'string' }, to: { type: 'string' } },
  ask: given =>
    given.client.api('POST', '/verification/resend', {
      verificationId: given.text('id'),
      to: given.text('to'),
    }),
  show: showAttempt,
})

export const check = clientCommand({
  usage: `verify check CODE (--id VERIFICATION | --to RECIPIENT)   ${WITH_KEY}`,
  words: 1,
  options: { id: { type: 'string' }, to: { type: 'string' } },
  ask: given =>
    given.client.api('POST', '/verification/verify', {
      verificationId: given.text('id'),
      to: given.text('to'),
      code: given.words[0],
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
