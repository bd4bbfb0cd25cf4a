import { expect, it } from 'vitest'
import { amountOf } from '../../console/src/parts/amount.ts'

/** By its address, since what it draws is no part of the tests' program. */
const MONEY = new URL('../../console/src/parts/money.tsx', import.meta.url).href
type Format = (amount: number, currency: string) => string
const { formatMoney, formatSum } = (await import(MONEY)) as { formatMoney: Format; formatSum: Format }

it('an amount is read with a point or a comma, and guessed from nothing', () => {
  expect(['12.5', '12,50', ' 0,000001 ', '1000000', '1.234', '-3'].map(amountOf)).toEqual([
    12.5, 12.5, 0.000001, 1_000_000, 1.234, -3,
  ])
  const odd = ['', '1,234', '1.234,56', '1,234.56', '1 000', '12,', 'twelve', '1e3', '0x10', '1,2,3']
  expect(odd.map(amountOf)).toEqual(odd)
})

it('money has the digits of its currency, and of an amount that has more no fewer', () => {
  // Whatever the language of the machine is.
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
