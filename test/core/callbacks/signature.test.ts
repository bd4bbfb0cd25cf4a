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
  test('equals that of the Standard Webhooks library for any body', () => {
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

  test('with a user-chosen secret uses its bytes as key', () => {
    const [key, ...more] = keysOfChosenSecret('p@ss wörd')
    expect(more).toEqual([])
    expect(key).toEqual(Buffer.from('p@ss wörd'))
  })

  test('with a user-chosen whsec_ secret is made both with its literal and its decoded bytes', () => {
    const bytes = Buffer.from('0123456789abcdef0123456789abcdef')
    const secret = `whsec_${bytes.toString('base64')}`
    expect(keysOfChosenSecret(secret)).toEqual([Buffer.from(secret), bytes])
    expect(keysOfChosenSecret('whsec_')).toEqual([Buffer.from('whsec_')])
  })
})
