import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import type { MessageStats } from '../../../../sdk/index.ts'
import { formatBriefly, formatSum } from '../../parts/money.tsx'
import { eachDay } from './spans.ts'

const SERIES = [{ name: 'Spent', color: 'verdigris.6' }]
const short = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** The cost of each day, less refunds. */
export default function SpendChart({ stats }: { stats: MessageStats }) {
  const { rows, currency } = stats
  const costs = new Map(rows.map(({ at, cost }) => [new Date(at).getTime(), cost]))
  const points = eachDay(stats).map(at => ({
    day: short.format(new Date(at)),
    Spent: costs.get(new Date(at).getTime()) ?? 0,
  }))
  return (
    <BarChart
      h={220}
      data={points}
      dataKey="day"
      series={SERIES}
      tickLine="none"
      // Room for the label of the highest line.
      barChartProps={{ margin: { top: 10 } }}
      barProps={{ isAnimationActive: false, maxBarSize: 22 }}
      xAxisProps={{ interval: 'equidistantPreserveStart', minTickGap: 24 }}
      yAxisProps={{ width: 64, tickFormatter: amount => formatBriefly(amount, currency) }}
      valueFormatter={value => formatSum(value, currency)}
    />
  )
}
