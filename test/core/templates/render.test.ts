import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  firstGap,
  isFault,
  parsePlaceholders,
  placeholderNumbers,
  type Segments,
} from '../../../src/core/templates/placeholders.ts'
import { type CompiledTemplate, joinParts, renderTemplate } from '../../../src/core/templates/render.ts'

const compiled = (more: Partial<CompiledTemplate>): CompiledTemplate => ({
  places: 2,
  bodyPlaces: 2,
  body: ['Order ', 1, ' is ', 2, '.'],
  html: false,
  subject: null,
  header: null,
  footer: null,
  ...more,
})

/** Text between placeholders: without braces, so that a text has only one list of segments. */
const literal = fc.string({ unit: 'grapheme', maxLength: 12 }).map(text => text.replace(/[{}]/g, ''))
const pieces = fc.array(fc.oneof(literal, fc.integer({ min: 1, max: 100 })), { maxLength: 20 })
const write = (segments: Segments) =>
  segments.map(each => (typeof each === 'number' ? `{{${each}}}` : each)).join('')

describe('parsePlaceholders', () => {
  test('does not cut the quoted text of a fault within a character', () => {
    const parsed = parsePlaceholders(`{{${'a'.repeat(17)}😀`)
    expect(parsed).toMatchObject({ message: expect.stringContaining('aaa') })
    expect((parsed as { message: string }).message.isWellFormed()).toBe(true)
  })

  test('finds every placeholder, and its segments make up the text', () => {
    fc.assert(
      fc.property(pieces, segments => {
        const text = write(segments)
        const parsed = parsePlaceholders(text)
        if (isFault(parsed)) throw new Error(parsed.message)
        expect(write(parsed)).toBe(text)
        expect(parsed.filter(each => typeof each === 'number')).toEqual(
          segments.filter(each => typeof each === 'number'),
        )
        expect(parsed.every(each => each !== '')).toBe(true)
      }),
    )
  })

  test('never throws: returns segments that make up the text, or a fault with its position', () => {
    const braces = fc.array(fc.constantFrom('{', '}', '{{', '}}', '1', '23', 'a', ' ', '💬'), {
      maxLength: 15,
    })
    fc.assert(
      fc.property(braces, parts => {
        const text = parts.join('')
        const parsed = parsePlaceholders(text)
        if (isFault(parsed)) expect(parsed.at).toBeLessThan(text.length)
        else expect(write(parsed)).toBe(text)
      }),
    )
  })

  test.each([
    '{{0}}',
    '{{01}}',
    '{{ 1 }}',
    '{{name}}',
    '{{1}',
    '{{}}',
    '{{1}}}',
    '{{{1}}',
    '{{101}}',
    'a {{',
  ])('refuses %s', text => {
    expect(isFault(parsePlaceholders(text))).toBe(true)
  })

  test('stays linear on hostile texts', () => {
    // Otherwise these would take minutes.
    expect(isFault(parsePlaceholders('{'.repeat(500_000)))).toBe(true)
    expect(isFault(parsePlaceholders('{{1'.repeat(200_000)))).toBe(true)
    expect(parsePlaceholders('{{1}}'.repeat(100_000))).toHaveLength(100_000)
  })
})

describe('firstGap', () => {
  test('is null exactly if the numbers are 1 to n', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 20 })), numbers => {
        const places = placeholderNumbers(numbers)
        const full = numbers.length === 0 || Math.max(...numbers) === numbers.length
        expect(firstGap(places) === null).toBe(full)
      }),
    )
  })
})

describe('renderTemplate', () => {
  test('puts each value into its places unchanged', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.string(), { minLength: 100, maxLength: 100 }), (body, values) => {
        const { text } = renderTemplate(compiled({ body }), values)
        expect(text).toBe(body.map(each => (typeof each === 'number' ? values[each - 1] : each)).join(''))
      }),
    )
  })

  test('does not replace a placeholder within a value', () => {
    expect(renderTemplate(compiled({}), ['{{2}}', '$&']).text).toBe('Order {{2}} is $&.')
  })

  test('escapes values in HTML, and nothing else', () => {
    const body = ['<p title="', 1, '">', 2, '</p>']
    const { text } = renderTemplate(compiled({ body, html: true }), [`"><script>`, `Tom & "Jerry's"`])
    expect(text).toBe('<p title="&quot;&gt;&lt;script&gt;">Tom &amp; &quot;Jerry&#39;s&quot;</p>')
  })

  test('escapes every special character of a value in HTML', () => {
    fc.assert(
      fc.property(fc.string(), value => {
        const { text } = renderTemplate(compiled({ body: [1], html: true }), [value])
        expect(text).not.toMatch(/[<>"']/)
        expect(text.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&')
      }),
    )
  })

  test('keeps a subject on one line and does not escape it', () => {
    const template = compiled({ subject: ['Order ', 1], html: true })
    const { subject } = renderTemplate(template, ['4711\r\nBcc: a@example.com\u2028x & y', ''])
    expect(subject).toBe('Order 4711 Bcc: a@example.com x & y')
  })

  test('joins header, body and footer for a chat', () => {
    const template = compiled({ header: ['News of ', 1], footer: 'Acme' })
    expect(joinParts(template, renderTemplate(template, ['4711', 'here']))).toBe(
      'News of 4711\n\nOrder 4711 is here.\n\nAcme',
    )
  })
})
