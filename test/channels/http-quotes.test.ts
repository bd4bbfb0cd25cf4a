import { describe, expect, test } from 'vitest'
import { quotes } from '../../src/channels/http/quotes.ts'

const SECRET = `p@ss "w/rd" & 'ümlaut'`

describe('the words of a provider quote a text', () => {
  test.each([
    ['as it is', `no right of ${SECRET}.`],
    ['percent-encoded', `GET /send?p=${encodeURIComponent(SECRET)}&to=1`],
    ['percent-encoded in lower case', `/send?p=${encodeURIComponent(SECRET).toLowerCase()}`],
    ['percent-encoded in part', '/send?p=p@ss%20%22w/rd%22%20%26%20%27%C3%BCmlaut%27'],
    ['form-encoded', `body: ${new URLSearchParams({ p: SECRET })}`],
    ['escaped for XML', '<p>p@ss &quot;w/rd&quot; &amp; &#39;&#xFC;mlaut&apos;</p>'],
    ['as a JSON string', `{"p":${JSON.stringify(SECRET)}}`],
    ['as a JSON string in ASCII', `{"p":${JSON.stringify(SECRET).replace('ü', '\\u00FC')}}`],
  ])('%s', (_, words) => {
    expect(quotes(words, SECRET)).toBe(true)
  })

  test.each([
    ['other words', 'no right of acme'],
    ['invalid escapes', '100% &unknown; &#9999999; %zz \\'],
  ])('not in %s', (_, words) => {
    expect(quotes(words, SECRET)).toBe(false)
  })

  test('that has a plus itself', () => {
    expect(quotes('/send?to=+1202&p=a%2Bb', 'a+b')).toBe(true)
    expect(quotes('no right of a+b', 'a+b')).toBe(true)
  })

  test('that has a line break', () => {
    expect(quotes('{"error":"refused: one\\ntwo"}', 'one\ntwo')).toBe(true)
  })
})
