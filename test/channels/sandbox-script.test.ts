import { describe, expect, test } from 'vitest'
import { endingOf, type Script, scriptOf } from '../../src/channels/sandbox/script.ts'
import { CHANNELS, type Channel } from '../../src/contract/enums.ts'

/** A recipient with this ending on each channel. */
const SPELL: Record<Channel, (ending: string) => string> = {
  local_sms: ending => `+1555010${ending}`,
  int_sms: ending => `+4930123${ending}`,
  official_chatapp: ending => `+1555010${ending}`,
  user_chatapp_session: ending => `12036302${ending}@g.us`,
  botapp_bot: ending => `-10012${ending}`,
  email_user: ending => `ph-${ending}@example.com`,
}
const CHAT_APPS: readonly Channel[] = ['official_chatapp', 'user_chatapp_session']

function summary(script: Script): string {
  if (script.act === 'refuse') return script.code
  const { failures, throttles, answers, receiptFirst, receipts } = script
  const flags = [
    failures > 0 && `${failures} failures`,
    throttles && 'rests',
    !answers && 'silent',
    receiptFirst && 'receipt first',
  ]
  return [...flags.filter(Boolean), ...receipts.map(step => `${step.status} ${step.afterMs}`)].join(', ')
}

describe.each(CHANNELS)('on %s', channel => {
  const usual = CHAT_APPS.includes(channel) ? 'delivered 1000, read 2000' : 'delivered 1000'
  test.each([
    ['0000', usual],
    ['0001', CHAT_APPS.includes(channel) ? 'CHATAPP_NOT_REGISTERED' : usual],
    ['0002', 'RECIPIENT_REJECTED'],
    ['0003', `2 failures, ${usual}`],
    ['0004', 'undelivered 1000'],
    ['0005', 'silent'],
    ['0006', `rests, ${usual}`],
    ['0007', 'receipt first, delivered 1000'],
    ['0008', usual],
    ['4567', usual],
  ])('the ending %s simulates: %s', (ending, meaning) => {
    expect(summary(scriptOf(channel, SPELL[channel](ending)))).toBe(meaning)
  })
})

test.each<[Channel, string, string]>([
  ['email_user', 'PH-0002@example.com', '0002'],
  ['email_user', 'alph-0002@example.com', ''],
  ['email_user', 'ph-00021@example.com', ''],
  ['email_user', '15550002@example.com', ''],
  ['email_user', 'someone@ph-0002.example', ''],
  ['user_chatapp_session', '15550100002-1600000003@g.us', '0003'],
  ['user_chatapp_session', '+15550100002', '0002'],
  ['botapp_bot', '2', ''],
  ['botapp_bot', '@channel0002', '0002'],
])('the ending on %s of %s is "%s"', (channel, to, ending) => {
  expect(endingOf(channel, to)).toBe(ending)
})
