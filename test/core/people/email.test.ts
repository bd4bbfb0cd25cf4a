import { expect, test } from 'vitest'
import { emailKey, readEmail } from '../../../src/core/people/email.ts'

test.each(['a@example.com', ' a@example.com ', 'jürgen@bücher.example', 'संपर्क@हिन्दी.भारत'])(
  '%s is a valid e-mail address',
  text => {
    expect(readEmail(text)).toBe(text.trim())
  },
)

test.each([
  '',
  'a',
  '@example.com',
  'a@',
  'a@-example.com',
  'a@\u0308a.com',
  'a b@example.com',
  'a@b@c\n.com',
])('%j is not a valid e-mail address', text => {
  expect(() => readEmail(text)).toThrow('must be an e-mail address')
})

test('the spellings of an address have one key', () => {
  for (const spelling of ['J\u030can@example.com', 'j\u030can@example.com', '\u01f0an@EXAMPLE.com'])
    expect(emailKey(spelling)).toBe('\u01f0an@example.com')
})
