import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { Config } from '../../../src/channels/whatsapp-cloud/config.ts'

const accepts = (phoneNumberId: string) =>
  Value.Check(Config, {
    phoneNumberId,
    businessAccountId: 'waba-1',
    accessToken: 'token',
    appSecret: 'secret',
    verifyToken: 'verify',
  })

test.each(['106540352242922', 'PHONE_NUMBER_ID', 'pn-1'])('the phone number id %s is valid', id => {
  expect(accepts(id)).toBe(true)
})

test.each(['', '+49 151 23456789', '../me', '1?fields=id', 'a/b', 'ü', 'a'.repeat(65)])(
  'the phone number id %j is rejected',
  id => {
    expect(accepts(id)).toBe(false)
  },
)
