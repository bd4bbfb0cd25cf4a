import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CsvFault, readCsv } from '../../src/lib/csv.ts'

async function* inPieces(text: string, length: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length)
}

async function read(text: string, length = 1_000): Promise<string[][]> {
  const records: string[][] = []
  for await (const { fields } of readCsv(inPieces(text, length))) records.push(fields)
  return records
}

const quote = (field: string) => `"${field.replaceAll('"', '""')}"`

test('reads written records back, wherever the text is split', async () => {
  const field = fc.string({ unit: fc.constantFrom('a', 'ü', ',', '"', '\n', '\r', ' '), maxLength: 6 })
  const records = fc.array(fc.array(field, { minLength: 1, maxLength: 4 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      records,
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.integer({ min: 1, max: 7 }),
      fc.boolean(),
      async (rows, end, length, last) => {
        const text = rows.map(row => row.map(quote).join(',')).join(end) + (last ? end : '')
        expect(await read(text, length)).toEqual(rows)
      },
    ),
  )
})

test.each([
  [
    'a,b\n1,2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a,b\r\n\r\n1,\r\n',
    [
      ['a', 'b'],
      ['1', ''],
    ],
  ],
  ['\ufeffto\nx', [['to'], ['x']]],
  ['"a ""b"" c",d', [['a "b" c', 'd']]],
  ['"two\nlines",x', [['two\nlines', 'x']]],
  ['', []],
  [',', [['', '']]],
  ['""', [['']]],
])('parses %j', async (text, records) => {
  expect(await read(text)).toEqual(records)
})

test('gives the line in which each record begins', async () => {
  const lines: number[] = []
  for await (const { line } of readCsv(inPieces('a\n"b\nb"\n\nc', 2))) lines.push(line)
  expect(lines).toEqual([1, 2, 5])
})

describe('rejects', () => {
  test.each([
    ['a\nb"c', 'line 2'],
    ['"a"b', 'after a closing quote'],
    ['a\n"b', 'line 2: an unclosed quote'],
    [`"${'x'.repeat(1_000_002)}"`, 'too long'],
    [`to\n${','.repeat(1_000)}`, 'line 2: more than 1000 fields'],
  ])('malformed CSV, case %#', async (text, words) => {
    await expect(read(text)).rejects.toThrow(CsvFault)
    await expect(read(text)).rejects.toThrow(words)
  })
})
