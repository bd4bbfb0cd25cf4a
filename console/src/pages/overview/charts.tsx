import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import type { MessageStats } from '../../../../sdk/index.ts'

const SERIES = [
  { name: 'Delivered', color: 'verdigris.6' },
  { name: 'Sent, no receipt', color: 'verdigris.3' },
  { name: 'Failed', color: 'var(--ph-bad)' },
  { name: 'Unknown', color: 'var(--ph-odd)' },
]
const HOUR_MS = 3_600_000
const hours = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** What became of the messages of each hour or day. */
export default function Charts({ stats }: { stats: MessageStats }) {
  return (
    <BarChart
      h={260}
      data={toPoints(stats)}
      dataKey="at"
      type="stacked"
      series={SERIES}
      withLegend
      tickLine="none"
      barProps={{ isAnimationActive: false, maxBarSize: 28 }}
      xAxisProps={{ minTickGap: 24 }}
      yAxisProps={{ allowDecimals: false, width: 44 }}
      valueFormatter={value => value.toLocaleString()}
    />
  )
}

/** Every step of the time, also those in which nothing was. */
function toPoints({ from, to, interval, rows }: MessageStats) {
  const stepMs = interval === 'hour' ? HOUR_MS : 24 * HOUR_MS
  const byTime = new Map(rows.map(row => [new Date(row.at).getTime(), row]))
  const firstMs = Math.floor(new Date(from).getTime() / stepMs) * stepMs
  const lastMs = new Date(to).getTime()
  const long = lastMs - firstMs > 48 * HOUR_MS
  const points = []
  for (let atMs = firstMs; atMs < lastMs; atMs += stepMs) {
    const row = byTime.get(atMs)
    const known = row ? row.delivered + row.undelivered + row.failed : 0
    const at = new Date(atMs)
    points.push({
      at:
        interval === 'day'
          ? days.format(at)
          : long
            ? `${days.format(at)}, ${hours.format(at)}`
            : hours.format(at),
      Delivered: row?.delivered ?? 0,
      'Sent, no receipt': row ? Math.max(0, row.sent - known) : 0,
      Failed: row ? row.failed + row.undelivered : 0,
      Unknown: row?.unknown ?? 0,
    })
  }
  return points
}
