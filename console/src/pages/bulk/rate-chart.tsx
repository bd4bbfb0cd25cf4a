import { Text } from '@mantine/core'
import type { RateSample } from './pace.ts'
import classes from './rate-chart.module.css'

const WIDTH = 600
const HEIGHT = 80
/** Width in seconds. */
const SPAN = 120

/** How fast it goes, second by second, the newest at the end. */
export function RateChart({ samples, most }: { samples: readonly RateSample[]; most: number }) {
  const top = Math.max(most, ...samples.map(({ perSecond }) => perSecond)) * 1.1
  const now = samples.at(-1)!
  const points = samples.map(({ perSecond }, at) => {
    const x = WIDTH - ((samples.length - 1 - at) * WIDTH) / (SPAN - 1)
    return `${x.toFixed(1)},${(HEIGHT - (perSecond / top) * HEIGHT).toFixed(1)}`
  })
  const first = points[0]!.split(',')[0]!
  const limit = HEIGHT - (most / top) * HEIGHT
  return (
    <figure className={classes.chart}>
      <figcaption className={classes.caption}>
        <Text size="xs" c="dimmed">
          Messages a second, last two minutes
        </Text>
        <Text size="xs" fw={600} className="ph-num" style={{ whiteSpace: 'nowrap' }}>
          {now.perSecond.toFixed(1)} a second
        </Text>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className={classes.plot}
        role="img"
        aria-label={`${now.perSecond.toFixed(1)} messages a second now; the limit is ${most}`}
      >
        <line x1={0} x2={WIDTH} y1={limit} y2={limit} className={classes.limit} />
        <polygon
          points={`${first},${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`}
          className={classes.area}
        />
        <polyline points={points.join(' ')} className={classes.line} />
      </svg>
    </figure>
  )
}
