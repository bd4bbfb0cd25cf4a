import { afterEach, expect, it } from 'vitest'
import { isLocalTime, isoOfLocal, localTime } from '../../console/src/parts/local-time.ts'

const { TZ } = process.env
afterEach(() => {
  if (TZ === undefined) delete process.env['TZ']
  else process.env['TZ'] = TZ
})

it('an unedited time is the one that it was made of, also in the hour that comes twice', () => {
  process.env['TZ'] = 'Europe/Berlin'
  const hours = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']
  const told = hours.map(iso => localTime(Date.parse(iso)))
  expect(told).toEqual(['2026-10-25T02:30:00', '2026-10-25T02:30:00'])
  expect(hours.map((iso, at) => isoOfLocal(told[at]!, Date.parse(iso)))).toEqual(hours)
  expect(isoOfLocal('2026-10-25T12:00:00', Date.parse(hours[0]!))).toBe('2026-10-25T11:00:00.000Z')
  expect(isoOfLocal('soon', Date.parse(hours[0]!))).toBe('soon')
})

it('a time in the hour that clocks skip is none', () => {
  process.env['TZ'] = 'America/New_York'
  const typed = ['2027-03-14T01:59', '2027-03-14T02:00', '2027-03-14T02:59:59', '2027-03-14T03:00:00', 'soon']
  expect(typed.map(isLocalTime)).toEqual([true, false, false, true, false])
  expect(typed.map(local => isoOfLocal(local))).toEqual([
    '2027-03-14T06:59:00.000Z',
    '2027-03-14T02:00',
    '2027-03-14T02:59:59',
    '2027-03-14T07:00:00.000Z',
    'soon',
  ])
})
