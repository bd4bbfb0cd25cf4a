import '@mantine/charts/styles.css'
import { AreaChart, BarChart } from '@mantine/charts'
import type { MessageStats } from '../../../../sdk/index.ts'
import { labelOf, toPoints } from './points.ts'

const SERIES = [
  { name: 'Sent', color: 'verdigris.3' },
  { name: 'Delivered', color: 'verdigris.6' },
  { name: 'Failed', color: 'var(--ph-bad)' },
  { name: 'Unknown', color: 'var(--ph-odd)' },
]
/** Bars of more points than these are too thin to be told apart. */
const MOST_BARS = 48

/** What happened in each hour or day. A receipt counts when it comes, so nothing here is a part of anything else. */
export default function Charts({ stats }: { stats: MessageStats }) {
  const points = toPoints(stats)
  const label = labelOf(stats)
  const common = {
    h: 260,
    data: points,
    dataKey: 'at',
    series: SERIES,
    withLegend: true,
    // By the alphabet otherwise.
    legendProps: { itemSorter: null },
    tickLine: 'none',
    xAxisProps: { interval: 'equidistantPreserveStart', minTickGap: 24, tickFormatter: label },
    // As wide as its largest number: a good day has six digits.
    yAxisProps: { allowDecimals: false, width: 'auto' },
    // Asked while nothing is pointed at, too.
    tooltipProps: { labelFormatter: (at: unknown) => (typeof at === 'string' ? label(at) : '') },
    valueFormatter: (value: number) => value.toLocaleString(),
  } as const
  if (points.length <= MOST_BARS)
    return <BarChart {...common} barProps={{ isAnimationActive: false }} maxBarWidth={14} />
  return (
    <AreaChart
      {...common}
      withDots={false}
      curveType="linear"
      fillOpacity={0.12}
      strokeWidth={1.5}
      areaProps={{ isAnimationActive: false }}
    />
  )
}
