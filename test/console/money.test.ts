import { expect, it } from 'vitest'
import { amountOf } from '../../console/src/parts/amount.ts'
import { formatShare } from '../../console/src/parts/format-share.ts'

/** Imported by its URL, since the module with its component is not part of the tests’ program. */
const MONEY = new URL('../../console/src/parts/money.tsx', import.meta.url).href
type Format = (amount: number, currency: string) => string
const { formatMoney, formatSum } = (await import(MONEY)) as { formatMoney: Format; formatSum: Format }

it('an amount accepts a decimal point or comma, and ambiguous text is left as it is', () => {
  expect(['12.5', '12,50', ' 0,000001 ', '1000000', '1.234', '-3'].map(amountOf)).toEqual([
    12.5, 12.5, 0.000001, 1_000_000, 1.234, -3,
  ])
  const odd = ['', '1,234', '1.234,56', '1,234.56', '1 000', '12,', 'twelve', '1e3', '0x10', '1,2,3']
  expect(odd.map(amountOf)).toEqual(odd)
})

it('money is shown with the digits of its currency, or more if the amount has more', () => {
  // Removes what depends on the language of the machine.
  const plain = (text: string) => text.replaceAll(/[^\d.,]/g, '').replace(',', '.')
  expect([formatSum(12.345, 'KWD'), formatSum(120, 'JPY'), formatSum(12.5, 'EUR')].map(plain)).toEqual([
    '12.345',
    '120',
    '12.50',
  ])
  expect([formatMoney(0.0425, 'USD'), formatMoney(4, 'KWD'), formatMoney(0.5, 'JPY')].map(plain)).toEqual([
    '0.0425',
    '4.000',
    '0.5',
  ])
  expect([formatSum(0.0425, 'USD'), formatSum(0, 'EUR')].map(plain)).toEqual(['0.0425', '0.00'])
})

it('a share is shown as 100 % only if it is all, and as 0 % only if it is nothing', () => {
  expect([1, 0.9999, 0.123, 0.0001, 0].map(formatShare)).toEqual([
    '100 %',
    '99.9 %',
    '12.3 %',
    '0.1 %',
    '0 %',
  ])
})
