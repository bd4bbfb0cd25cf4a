import { describe, expect, it } from 'vitest'
import { toCsv } from '../../console/src/pages/bulk/csv.ts'
import {
  faultsOf,
  guessColumns,
  hasLostPlus,
  missingIn,
  type Plan,
  toMessage,
} from '../../console/src/pages/bulk/plan.ts'
import { readSheet } from '../../console/src/pages/bulk/read-sheet.ts'
import { createSheet } from '../../console/src/pages/bulk/sheet.ts'
import { workbook } from './workbook.ts'

const PLAN: Plan = {
  columns: ['to', 'text'],
  channel: 'auto',
  messageType: 'utility',
  template: null,
  sender: '',
  text: '',
  addPlus: false,
}

describe('the columns of a file', () => {
  it.each([
    [
      ['Phone', 'Message'],
      ['to', 'text'],
    ],
    [
      ['E-Mail', 'Subject', 'Body'],
      ['to', 'subject', 'text'],
    ],
    [
      ['id', 'MSISDN', 'mobile'],
      [null, 'to', null],
    ],
    [
      ['Name', 'Order'],
      [null, null],
    ],
  ])('%j are recognised as %j', (names, expected) => {
    expect(guessColumns(names)).toEqual(expected)
  })

  it('are incomplete without a recipient and either a text or the variables of a template', () => {
    expect(missingIn({ ...PLAN, columns: [null, 'text'] })).toMatch(/recipients/)
    expect(missingIn({ ...PLAN, columns: ['to', null] })).toMatch(/texts/)
    expect(missingIn({ ...PLAN, columns: ['to', null], text: 'Hi' })).toBeNull()
    const template = { id: 'tpl_1', places: 2, buttons: [] }
    expect(missingIn({ ...PLAN, columns: ['to', 1], template })).toMatch(/\{\{2\}\}/)
    expect(missingIn({ ...PLAN, columns: ['to', 1, 2], template })).toBeNull()
  })
})

describe('a row', () => {
  it('becomes a message', () => {
    expect(toMessage([' +1 (202) 555-0123 ', 'Hi'], PLAN)).toEqual({
      to: '+12025550123',
      messageType: 'utility',
      content: { text: 'Hi' },
    })
    const template = { id: 'tpl_1', places: 2, buttons: [] }
    expect(
      toMessage(['a@b.co', '2', '1'], { ...PLAN, columns: ['to', 2, 1], template, channel: 'email_user' }),
    ).toEqual({
      to: 'a@b.co',
      channel: 'email_user',
      template: { id: 'tpl_1', variablesIndexed: ['1', '2'] },
    })
    const buttons = [{ index: 1, subType: 'url' }]
    const plan: Plan = { ...PLAN, columns: ['to', 'button1'], template: { ...template, places: 0, buttons } }
    expect(toMessage(['+12025550123', 'spring'], plan).template).toEqual({
      id: 'tpl_1',
      buttonVariables: [{ index: 1, subType: 'url', text: 'spring' }],
    })
    expect(missingIn({ ...plan, columns: ['to', null] })).toMatch(/button 2/)
    expect(faultsOf(['+12025550123', ''], plan)).toEqual([
      { column: 1, message: 'has no value for button 2' },
    ])
  })

  it('uses the sender of the job when it can be an SMS', () => {
    const plan: Plan = { ...PLAN, sender: 'snd_1' }
    expect(toMessage(['+12025550123', 'Hi'], plan).sender).toEqual({ id: 'snd_1' })
    expect(toMessage(['7', 'Hi'], { ...plan, channel: 'botapp_bot' }).sender).toBe(undefined)
  })

  it('gets its missing plus added only when that option is on', () => {
    expect(hasLostPlus([['12025550123']], ['to'])).toBe(true)
    expect(hasLostPlus([['+12025550123'], ['ann@example.com']], ['to'])).toBe(false)
    expect(toMessage(['12025550123', ''], { ...PLAN, addPlus: true }).to).toBe('+12025550123')
    expect(toMessage(['7000000004', ''], { ...PLAN, addPlus: true, channel: 'botapp_bot' }).to).toBe(
      '7000000004',
    )
  })

  it.each([
    ['', 'Hi', 'has no recipient'],
    ['nobody', 'Hi', 'is not a valid recipient'],
    ['12025550123', 'Hi', 'is not a phone number with + and country code'],
    ['+12025550123', '', 'has no text'],
  ])('with %j, %j has the fault: %s', (to, text, message) => {
    expect(faultsOf([to, text], PLAN).map(fault => fault.message)).toEqual([message])
  })
})

describe('a CSV file', () => {
  const read = async (bytes: Uint8Array<ArrayBuffer> | string) => {
    const sheet = await readSheet(new File([bytes], 'people.csv'), () => {})
    return [sheet.names, ...sheet.rows]
  }
  const MARK = '\ufeff'

  it.each([
    ['with a byte order mark, semicolons and quotes', `${MARK}To;Text\r\n+1;"Grüße; ""Ada"",\r\nhere"\r\n`],
    [
      'in UTF-16 with tabs, as old versions of Excel write it',
      Buffer.from(`${MARK}To\tText\r\n+1\t"Grüße; ""Ada"",\r\nhere"`, 'utf16le'),
    ],
  ])('%s is read', async (_, bytes) => {
    const expected = [
      ['To', 'Text'],
      ['+1', 'Grüße; "Ada",\r\nhere'],
    ]
    expect(await read(bytes as string)).toEqual(expected)
  })

  it('that is not encoded in UTF-8 is rejected, since characters would be garbled', async () => {
    await expect(read(Buffer.from('To;Text\r\n+1;Grüße\r\n', 'latin1'))).rejects.toThrow('not in UTF-8')
  })

  it('keeps its characters intact, however long it is', async () => {
    const text = 'ü'.repeat(6_000_000)
    expect(await read(`To,Text\n+1,x${text}\n+2,${text}\n`)).toEqual([
      ['To', 'Text'],
      ['+1', `x${text}`],
      ['+2', text],
    ])
  })

  it('with a quotation mark that is never closed is rejected, since the rest would become one cell', async () => {
    await expect(read('to,text\n+1,hi\n+2,"open\n+3,hi\n')).rejects.toThrow('row 3 is never closed')
  })
})

describe('a date or time of an Excel workbook', () => {
  it.each([
    ['a date', { value: 45988, format: 14 }, '2025-11-27'],
    ['a date with a time', { value: 45988.6458333333, format: 22 }, '2025-11-27 15:30'],
    ['a time with seconds', { value: 45988.6458912037, format: 22 }, '2025-11-27 15:30:05'],
    ['a time of day', { value: 0.645833333333333, format: 20 }, '15:30'],
    ['midnight', { value: 0, format: 20 }, '00:00'],
    ['a number of hours', { value: 1.5, format: 46 }, '36:00'],
    ['a time of day in a workbook that counts from 1904', { value: 1462.25, format: 20 }, '06:00'],
  ] as const)('keeps its time: %s', async (_, cell, expected) => {
    const file = new File([workbook([['When'], [cell]])], 'people.xlsx')
    expect((await readSheet(file, () => {})).rows).toEqual([[expected]])
  })
})

describe('a number of an Excel workbook', () => {
  it.each([
    ['the rest of a sum of fractions', 0.1 + 0.2, '0.3'],
    ['a price with tax', 1.1 * 1.1, '1.21'],
    ['a whole number with all of its digits', 4_503_599_627_370_495, '4503599627370495'],
    ['a phone number', 12025552001, '12025552001'],
  ])('is read as Excel shows it: %s', async (_, cell, expected) => {
    const file = new File([workbook([['Value'], [cell]])], 'people.xlsx')
    expect((await readSheet(file, () => {})).rows).toEqual([[expected]])
  })
})

describe('a sheet', () => {
  const sheet = createSheet(
    ['to', 'text'],
    [
      ['+12025550101', 'one'],
      ['nobody', 'two'],
      ['+12025550101', 'three'],
    ],
    [2, 4, 5],
  )

  it('counts faulty rows and repeated recipients, with the line numbers of the file', () => {
    const checked = sheet.check(PLAN)
    expect(checked).toMatchObject({ rows: 3, faulty: 1, repeated: 1 })
    expect(checked.withFaults.map(({ line }) => line)).toEqual([4])
  })

  it('does not count rows without a recipient as repeated', () => {
    const rows = ['', '+12025550101', ' ', '()'].map(to => [to, 'one'])
    const checked = createSheet(['to', 'text'], rows, [2, 3, 4, 5]).check(PLAN)
    expect(checked).toMatchObject({ rows: 4, faulty: 3, repeated: 0 })
  })

  it('is sent without its faulty rows, and takes its sample from the valid ones', () => {
    const body = JSON.parse(sheet.body(PLAN, { name: 'October', messagesPerSecond: 5 }).join(''))
    expect(body).toMatchObject({ name: 'October', messagesPerSecond: 5 })
    expect(body.messages.map(({ content }: { content: { text: string } }) => content.text)).toEqual([
      'one',
      'three',
    ])
    expect(sheet.sample(PLAN, 1).rows.map(({ line }) => line)).toEqual([2])
  })

  it('takes its sample from the whole file, whatever its length', () => {
    const rows = Array.from({ length: 47 }, (_, at) => [`+1202555${1000 + at}`, 'text'])
    const long = createSheet(
      ['to', 'text'],
      rows,
      rows.map((_, at) => at + 2),
    )
    const lines = long.sample(PLAN, 24).rows.map(({ line }) => line)
    expect([lines.length, new Set(lines).size, lines[0]]).toEqual([24, 24, 2])
    expect(lines.at(-1)).toBeGreaterThan(45)
  })
})

describe('the request key of a job', () => {
  it('stays the same until the job is created, also without browser storage', async () => {
    // Imported by its URL, since it is written for browsers. There is no storage here.
    const address = new URL('../../console/src/pages/bulk/request-keys.ts', import.meta.url).href
    const { requestKey, removeRequestKey } = (await import(address)) as {
      requestKey(of: string): string
      removeRequestKey(of: string): void
    }
    const key = requestKey('october.csv')
    expect(requestKey('november.csv')).not.toBe(key)
    expect(requestKey('october.csv')).toBe(key)
    removeRequestKey('october.csv')
    expect(requestKey('october.csv')).not.toBe(key)
  })
})

describe('a CSV file for spreadsheets', () => {
  it('quotes cells where needed, and starts none with a formula', () => {
    expect(toCsv([['a,b', 'say "x"', '=1+1', '@x', '+12025550101', '+cmd|x', '-1']])).toBe(
      `"a,b","say ""x""",'=1+1,'@x,+12025550101,'+cmd|x,-1\r\n`,
    )
  })
})
