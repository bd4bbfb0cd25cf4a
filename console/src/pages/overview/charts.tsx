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
/** With more points, bars would be too thin. */
const MAX_BARS = 48

/** The counts of each hour or day. Receipts count when they arrive, so no series is a part of another. */
export default function Charts({ stats }: { stats: MessageStats }) {
  const points = toPoints(stats)
  const label = labelOf(stats)
  const common = {
    h: 260,
    data: points,
    dataKey: 'at',
    series: SERIES,
    withLegend: true,
    // Null keeps the order of the series; the default is alphabetical.
    legendProps: { itemSorter: null },
    tickLine: 'none',
    xAxisProps: { interval: 'equidistantPreserveStart', minTickGap: 24, tickFormatter: label },
    // As wide as its largest number: a good day has six digits.
    yAxisProps: { allowDecimals: false, width: 'auto' },
    // Also called while nothing is hovered.
    tooltipProps: { labelFormatter: (at: unknown) => (typeof at === 'string' ? label(at) : '') },
    valueFormatter: (value: number) => value.toLocaleString(),
  } as const
  if (points.length <= MAX_BARS)
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
