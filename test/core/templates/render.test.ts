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

/** What stands between places: no braces, so that a text is written in one way alone. */
const literal = fc.string({ unit: 'grapheme', maxLength: 12 }).map(text => text.replace(/[{}]/g, ''))
const pieces = fc.array(fc.oneof(literal, fc.integer({ min: 1, max: 100 })), { maxLength: 20 })
const write = (segments: Segments) =>
  segments.map(each => (typeof each === 'number' ? `{{${each}}}` : each)).join('')

describe('parsePlaceholders', () => {
  test('finds every place, and what it found reads as the text did', () => {
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

  test('never throws, and either keeps a text or says where it is wrong', () => {
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
    // Where it were not, these would take minutes.
    expect(isFault(parsePlaceholders('{'.repeat(500_000)))).toBe(true)
    expect(isFault(parsePlaceholders('{{1'.repeat(200_000)))).toBe(true)
    expect(parsePlaceholders('{{1}}'.repeat(100_000))).toHaveLength(100_000)
  })
})

describe('firstGap', () => {
  test('is null exactly for 1 to n', () => {
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
  test('puts each value in its places, as it stands', () => {
    fc.assert(
      fc.property(pieces, fc.array(fc.string(), { minLength: 100, maxLength: 100 }), (body, values) => {
        const { text } = renderTemplate(compiled({ body }), values)
        expect(text).toBe(body.map(each => (typeof each === 'number' ? values[each - 1] : each)).join(''))
      }),
    )
  })

  test('does not read values: a placeholder in one stays as it is', () => {
    expect(renderTemplate(compiled({}), ['{{2}}', '$&']).text).toBe('Order {{2}} is $&.')
  })

  test('escapes values in HTML, and nothing else', () => {
    const body = ['<p title="', 1, '">', 2, '</p>']
    const { text } = renderTemplate(compiled({ body, html: true }), [`"><script>`, `Tom & "Jerry's"`])
    expect(text).toBe('<p title="&quot;&gt;&lt;script&gt;">Tom &amp; &quot;Jerry&#39;s&quot;</p>')
  })

  test('lets no value out of its place in HTML', () => {
    fc.assert(
      fc.property(fc.string(), value => {
        const { text } = renderTemplate(compiled({ body: [1], html: true }), [value])
        expect(text).not.toMatch(/[<>"']/)
        expect(text.replace(/&(amp|lt|gt|quot|#39);/g, '')).not.toContain('&')
      }),
    )
  })

  test('keeps a subject in one line, and plain', () => {
    const template = compiled({ subject: ['Order ', 1], html: true })
    const { subject } = renderTemplate(template, ['4711\r\nBcc: a@example.com\u2028x & y', ''])
    expect(subject).toBe('Order 4711 Bcc: a@example.com x & y')
  })

  test('joins what a chat shows', () => {
    const template = compiled({ header: ['News of ', 1], footer: 'Acme' })
    expect(joinParts(template, renderTemplate(template, ['4711', 'here']))).toBe(
      'News of 4711\n\nOrder 4711 is here.\n\nAcme',
    )
  })
})
