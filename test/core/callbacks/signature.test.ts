import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import {
  createWebhookSecret,
  keyOfWebhookSecret,
  keysOfChosenSecret,
  signedHeaders,
} from '../../../src/core/callbacks/signature.ts'
import { createRandom } from '../../../src/lib/random.ts'

describe('a signature', () => {
  test('is the one that the Standard Webhooks library makes, for any body', () => {
    const secret = createWebhookSecret(createRandom())
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(4_000_000_000), (body, seconds) => {
        const headers = signedHeaders('evt_1', seconds * 1_000 + 999, body, [keyOfWebhookSecret(secret)])
        expect(headers).toEqual({
          'webhook-id': 'evt_1',
          'webhook-timestamp': String(seconds),
          'webhook-signature': new Webhook(secret).sign('evt_1', new Date(seconds * 1_000), body),
        })
      }),
    )
  })

  test('of a secret that a user chose has its bytes as key', () => {
    const [key, ...more] = keysOfChosenSecret('p@ss wörd')
    expect(more).toEqual([])
    expect(key).toEqual(Buffer.from('p@ss wörd'))
  })

  test('of a chosen secret in the standard’s spelling is made in both ways', () => {
    const bytes = Buffer.from('0123456789abcdef0123456789abcdef')
    const secret = `whsec_${bytes.toString('base64')}`
    expect(keysOfChosenSecret(secret)).toEqual([Buffer.from(secret), bytes])
    expect(keysOfChosenSecret('whsec_')).toEqual([Buffer.from('whsec_')])
  })
})
