import { Button, SegmentedControl, SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { ShieldCheck } from 'lucide-react'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import type { StatsRow } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Figure } from '../../parts/figure.tsx'
import { formatShare } from '../../parts/format-share.ts'
import { formatSum } from '../../parts/money.tsx'
import { Card } from '../../parts/page.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { Breakdown } from './breakdown.tsx'
import { SPANS, spanOf } from './days.ts'
import { regionName } from './region-name.ts'

const Chart = lazy(() => import('./conversion-chart.tsx'))
const STATS = '/api/v2/verification/stats'
const POLL_EVERY_MS = 15_000
/** The API's largest page; 90 days, or all countries, are fewer rows. */
const MAX_ROWS = 500

/** Verifications started and completed, by day, country and channel. */
export function Statistics() {
  const [filters, setFilters] = useFilters(['days'])
  const { days, from, to } = spanOf(filters.days)
  const query = { from, to, limit: MAX_ROWS }
  const options = { everyMs: POLL_EVERY_MS }
  const total = useRead(STATS, { query }, options)
  const byDay = useRead(STATS, { query: { ...query, groupBy: 'day' } }, options)
  const byCountry = useRead(STATS, { query: { ...query, groupBy: 'country' } }, options)
  const byChannel = useRead(STATS, { query: { ...query, groupBy: 'channel' } }, options)
  const failed = [total, byDay, byCountry, byChannel].find(({ error }) => error)
  const sum = total.data?.data[0]
  const nothing =
    total.data !== undefined && (sum === undefined || sum.started + sum.sent + sum.blocked === 0)

  return (
    <Stack gap="lg">
      <SegmentedControl
        aria-label="Days"
        size="xs"
        w="fit-content"
        data={SPANS}
        value={days}
        onChange={value => setFilters({ days: value })}
      />
      {failed?.error && <ReadFault error={failed.error} retry={failed.refetch} />}
      {nothing ? (
        <div className="ph-card">
          <Nothing />
        </div>
      ) : (
        <>
          <Figures sum={sum} />
          <Card title="Started and verified, by day">
            <Suspense fallback={<Skeleton h={260} />}>
              {byDay.data ? <Chart rows={byDay.data.data} from={from} to={to} /> : <Skeleton h={260} />}
            </Suspense>
          </Card>

          <Card title="By country" flush>
            <Breakdown
              name="Country"
              rows={byCountry.data?.data}
              nameOf={({ country }) => regionName(country)}
            />
          </Card>

          <Card title="By channel" flush>
            <Breakdown
              name="Channel"
              rows={byChannel.data?.data}
              nameOf={({ channel }) => (channel === null ? 'Unknown' : channelName(channel))}
            />
          </Card>
        </>
      )}
    </Stack>
  )
}

function Figures({ sum }: { sum: StatsRow | undefined }) {
  const conversion = sum?.conversion ?? null
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
      <Figure label="Started" value={sum?.started} />
      <Figure
        label="Verified"
        value={sum?.verified}
        note={conversion === null ? undefined : `${formatShare(conversion)} converted`}
      />
      <Figure
        label="Codes sent"
        value={sum?.sent}
        note={sum && sum.started > 0 ? `${(sum.sent / sum.started).toFixed(1)} each` : undefined}
      />
      <Figure label="Delivered" value={sum?.delivered} note="by delivery receipts" />
      <Figure label="Cost" value={sum?.cost} format={amount => formatSum(amount, sum?.currency ?? 'USD')} />
      <Figure
        label="Blocked"
        value={sum?.blocked}
        note="by the fraud guard"
        tone={sum && sum.blocked > 0 ? 'bad' : undefined}
        href="/verification/blocks"
      />
    </SimpleGrid>
  )
}

function Nothing() {
  const { can } = useSession()
  return (
    <EmptyNote
      icon={ShieldCheck}
      title="No verifications in this period"
      text="Send yourself a code to try it; in test mode it goes to the sandbox."
      action={
        can('messages:create') && (
          <Button component={Link} href="/verification/try">
            Try it
          </Button>
        )
      }
    />
  )
}
