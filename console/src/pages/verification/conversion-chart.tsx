import '@mantine/charts/styles.css'
import { CompositeChart } from '@mantine/charts'
import type { StatsRow } from '../../../../sdk/index.ts'
import { daysOf } from './days.ts'

const SERIES = [
  { name: 'Started', color: 'verdigris.3', type: 'bar' as const },
  { name: 'Verified', color: 'verdigris.6', type: 'bar' as const },
  { name: 'Conversion, %', color: 'brass.5', type: 'line' as const, yAxisId: 'right' },
]
const short = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** The share of each day's verifications that were completed. */
export default function ConversionChart({
  rows,
  from,
  to,
}: {
  rows: readonly StatsRow[]
  from: string
  to: string
}) {
  return (
    <CompositeChart
      h={260}
      data={toPoints(rows, from, to)}
      dataKey="day"
      series={SERIES}
      withLegend
      legendProps={{ itemSorter: null }}
      withRightYAxis
      tickLine="none"
      curveType="monotone"
      dotProps={{ r: 3 }}
      connectNulls
      barProps={{ isAnimationActive: false, maxBarSize: 18 }}
      lineProps={{ isAnimationActive: false }}
      xAxisProps={{ interval: 'equidistantPreserveStart', minTickGap: 24 }}
      yAxisProps={{ allowDecimals: false, width: 44 }}
      rightYAxisProps={{ domain: [0, 100], width: 36, tickFormatter: (value: number) => `${value}` }}
      valueFormatter={value => value.toLocaleString()}
    />
  )
}

/** All days of the period, including empty ones. */
function toPoints(rows: readonly StatsRow[], from: string, to: string) {
  const byDay = new Map(rows.map(row => [row.day, row]))
  return daysOf({ from, to }).map(day => {
    const row = byDay.get(day)
    const share = row?.conversion ?? null
    return {
      day: short.format(new Date(day)),
      Started: row?.started ?? 0,
      Verified: row?.verified ?? 0,
      'Conversion, %': share === null ? null : Math.round(share * 1000) / 10,
    }
  })
}
