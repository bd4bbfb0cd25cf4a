import '@mantine/charts/styles.css'
import { AreaChart } from '@mantine/charts'
import type { MessageStats } from '../../../../sdk/index.ts'
import { labelOf, toPoints } from './points.ts'

const SERIES = [
  { name: 'Sent', color: 'verdigris.3' },
  { name: 'Delivered', color: 'verdigris.7' },
  { name: 'Failed', color: 'var(--ph-bad)' },
  { name: 'Unknown', color: 'var(--ph-odd)' },
]
/** From so many points on their dots would be one line. */
const MOST_DOTS = 48

/** What happened in each hour or day. A receipt counts when it comes, so nothing here is a part of anything else. */
export default function Charts({ stats }: { stats: MessageStats }) {
  const points = toPoints(stats)
  const label = labelOf(stats)
  return (
    <AreaChart
      h={260}
      data={points}
      dataKey="at"
      series={SERIES}
      withLegend
      withDots={points.length <= MOST_DOTS}
      dotProps={{ r: 2, strokeWidth: 0 }}
      activeDotProps={{ r: 4 }}
      curveType="monotone"
      fillOpacity={0.12}
      strokeWidth={1.75}
      tickLine="none"
      areaProps={{ isAnimationActive: false }}
      xAxisProps={{ minTickGap: 24, tickFormatter: label }}
      yAxisProps={{ allowDecimals: false, width: 44 }}
      tooltipProps={{ labelFormatter: at => label(String(at)) }}
      valueFormatter={value => value.toLocaleString()}
    />
  )
}
