import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAddress, parseMailbox } from '../../src/channels/smtp/address.ts'
import { explainReply } from '../../src/channels/smtp/explain.ts'
import { htmlToText } from '../../src/channels/smtp/html-to-text.ts'
import { outcomeOfFault } from '../../src/channels/smtp/outcome.ts'
import { outgoing } from './conformance.ts'

describe('the plain-text alternative of HTML', () => {
  test.each([
    ['text with an inline element', 'Hello <b>you</b>', 'Hello you'],
    ['block elements', '<h1>Hi</h1><p>One<br>two</p><p>Three</p>', 'Hi\n\nOne\ntwo\n\nThree'],
    ['a list', '<ul><li>a</li><li>b</li></ul>', '- a\n\n- b'],
    ['a table', '<table><tr><td>1</td><td>2</td></tr></table>', '1 2'],
    [
      'a link',
      '<a class=x href="https://a.example/?b=1&amp;c=2">Open</a> it',
      'Open (https://a.example/?b=1&c=2) it',
    ],
    [
      'a link whose text is its URL',
      '<a href="https://a.example/">https://a.example/</a>',
      'https://a.example/',
    ],
    ['a mailto link', "<a href='mailto:a@b.example'>a@b.example</a>", 'a@b.example'],
    ['a javascript link', '<a href="javascript:alert(1)">x</a>', 'x'],
    ['entities', '&lt;&amp;&#39;&#x20ac;&nbsp;&unknown; &#0;', "<&'€ &unknown; &#0;"],
    ['style and script elements', '<style>a > b {}</style>x<script>if (a<b && "</p>") {}</script>y', 'xy'],
    ['a comment', 'a<!-- <b>hidden</b> -->b', 'ab'],
    ['a doctype and a head', '<!doctype html><head><title>T</title></head><body>x</body>', 'x'],
    ['an unclosed head', '<html><head><meta charset=utf-8><title>T</title><body><p>x</p></body>', 'x'],
    [
      'a header element after an unclosed head',
      '<head><title>T</title><header>Top</header><p>x</p>',
      'Top\n\nx',
    ],
    [
      'an element whose name starts with that of a hidden element',
      '<title-bar>a</title-bar><style>b</style-x></style>c',
      'ac',
    ],
    ['empty comments', 'a<!-->b<!--->c<!----->d', 'abcd'],
    ['an unmatched quote in a tag', "<p title=it's>a</p><p 'b>c</p>d", 'a\n\nc\n\nd'],
    ['a quoted attribute with spaces around the equals sign', '<img alt = "a > b">x', 'x'],
    ['a lone bracket', '1 < 2 and 3 > 2', '1 < 2 and 3 > 2'],
    ['a bracket in an attribute', '<img alt="a > b">x', 'x'],
    ['an unclosed tag', 'a<p class="b', 'a'],
    ['white space', '  a \n\t b  ', 'a b'],
  ])('converts %s', (_name, html, text) => expect(htmlToText(html)).toBe(text))

  test('no malformed HTML makes the conversion throw', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '<a href="',
      '</a>',
      '<style>',
      '</style',
      '<!--',
      '-->',
      '&#',
      ';',
      'x',
      ' ',
      '\n',
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 60 }),
        parts => typeof htmlToText(parts.join('')) === 'string',
      ),
    )
  })

  test.each(['<', '<style>', '<a href="', '<!--', '&#', '<p ', '</style', '<a href=" ', 'a '])(
    'a million characters of repeated %j are converted within five seconds',
    piece => {
      const html = piece.repeat(1_000_000 / piece.length)
      const startedAt = process.cpuUsage()
      htmlToText(html)
      const used = process.cpuUsage(startedAt)
      // A quadratic algorithm would take minutes.
      expect(used.user / 1_000).toBeLessThan(5_000)
    },
  )
})

describe('addresses', () => {
  test.each([
    ['a@example.com', 'a@example.com'],
    ['a.b+c@Example.COM', 'a.b+c@example.com'],
    ['user@bücher.example', 'user@xn--bcher-kva.example'],
    ['jürgen@example.com', 'jürgen@example.com'],
    ['a@[192.0.2.1]', 'a@[192.0.2.1]'],
  ])('%s is normalised to %s', (text, address) => expect(parseAddress(text)?.address).toBe(address))

  test.each([
    '',
    'a',
    '@b.example',
    'a@',
    'a@b@c.example',
    'a@b.example, c@d.example',
    'a b@c.example',
    '<a@b.example>',
    'a@b.example\r\nRCPT TO:<x@y.example>',
    'a\u0000@b.example',
    'a@b.example>',
    '"a b"@c.example',
    'a@exa mple.com',
    `${'a'.repeat(250)}@b.example`,
    'a@b.example;c',
    'a@b/c',
    'a@127.1',
    'a@b..c',
  ])('%j is not a valid address', text => expect(parseAddress(text)).toBeNull())

  test('a mailbox consists of a name and exactly one address', () => {
    expect(parseMailbox('Post Horn <a@b.example>')).toEqual({
      name: 'Post Horn',
      address: 'a@b.example',
      domain: 'b.example',
    })
    expect(parseMailbox('"Horn, Post" <a@b.example>')?.name).toBe('Horn, Post')
    expect(parseMailbox('a@b.example')).toMatchObject({ name: '', address: 'a@b.example' })
    expect(parseMailbox(String.raw`"Post \"the\" Horn" <a@b.example>`)?.name).toBe('Post "the" Horn')
    expect(parseMailbox('Post (Horn) <a@b.example>')).toMatchObject({ address: 'a@b.example' })
    for (const bad of [
      '',
      'Name',
      'a@b.example, c@d.example',
      'group: a@b.example;',
      'Horn, Post <a@b.example>',
    ])
      expect(parseMailbox(bad), bad).toBeNull()
    expect(parseMailbox('Evil\r\nBcc: x <a@b.example>')?.name ?? '').not.toMatch(/[\r\n]/)
  })
})

describe('outcomes of error replies', () => {
  const fault = (response: string) =>
    outcomeOfFault(
      outgoing(1),
      { code: 'EENVELOPE', command: 'DATA', responseCode: Number(response.slice(0, 3)), response },
      false,
    )

  test('to DATA are rejected for 554, and retry for 451 and 503', () => {
    expect(fault('554 5.7.1 no')).toMatchObject({
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      providerCode: '554 5.7.1',
    })
    // Without a delay: the retry policy of the connection decides.
    const later = { kind: 'retry', providerCode: '451 4.3.0' }
    expect(fault('451 4.3.0 later')).toEqual({ ...later, detail: 'The server answered: 451 4.3.0 later' })
    expect(fault('503 5.5.1 bad sequence')).toMatchObject({ kind: 'retry' })
  })

  test.each([
    ['450 4.2.1 mailbox busy', 'recipient'],
    ['452 4.2.2 mailbox full', 'recipient'],
    ['450 4.1.2 domain not found', 'recipient'],
    ['451 4.7.1 Greylisting in action', 'recipient'],
    ['450 4.1.8 Sender address rejected: domain not found', undefined],
    ['450 4.7.1 Client host rejected', undefined],
    ['451 4.3.0 lookup failure', undefined],
    ['452 4.3.1 out of storage', undefined],
    ['421 4.3.2 closing', undefined],
  ])('to RCPT TO, "%s" says whose fault it is', (response, whose) => {
    const responseCode = Number(response.slice(0, 3))
    const refused = { code: 'EENVELOPE', command: 'RCPT TO', responseCode, response }
    const outcome = outcomeOfFault(outgoing(1), refused, false)
    expect([outcome.kind, 'fault' in outcome ? outcome.fault : undefined]).toEqual(['retry', whose])
  })

  test('have a delay after greylisting that grows with the attempts', () => {
    const response = '450 4.7.1 Greylisted, come back'
    const grey = { code: 'EENVELOPE', command: 'RCPT TO', responseCode: 450, response }
    expect(outcomeOfFault(outgoing(1, { attempt: 3 }), grey, false)).toMatchObject({
      kind: 'retry',
      afterMs: 180_000,
    })
  })
})

test.each([
  ['550 5.1.1', 'There is no such mailbox.'],
  ['450 4.2.2', 'The mailbox is full.'],
  ['421 4.9.9', 'The server is busy or shutting down.'],
  ['535', 'The login was refused.'],
  ['534', 'The authentication mechanism is too weak for this account.'],
  ['299', null],
  ['', null],
])('the reply code "%s" is explained as: %s', (code, text) => expect(explainReply(code)).toBe(text))
