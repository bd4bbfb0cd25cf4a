import { Anchor, Grid, SegmentedControl, SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../api/use-read.ts'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Figure } from '../../parts/figure.tsx'
import { formatCount } from '../../parts/format-count.ts'
import { formatShare } from '../../parts/format-share.ts'
import { formatSum } from '../../parts/money.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { Channels } from './channels.tsx'
import { Latest } from './latest.tsx'
import { PERIODS, periodOf, spanOf } from './period.ts'
import { SandboxWarning } from './sandbox-warning.tsx'
import { StatusLinks } from './status-links.tsx'

const Charts = lazy(() => import('./charts.tsx'))
const POLL_EVERY_MS = 10_000

/** The account's key figures: messages sent, their outcomes and their cost. */
export default function Overview() {
  const { membership, mode, can } = useSession()
  const [filters, setFilters] = useFilters(['period'])
  const period = periodOf(filters.period)
  const stats = useRead('/api/v2/stats', { query: spanOf(period) }, { everyMs: POLL_EVERY_MS })
  const wallet = useRead('/api/v2/wallet', undefined, { everyMs: POLL_EVERY_MS })
  const total = stats.data?.data.total
  const now = stats.data?.data.now
  const currency = stats.data?.data.currency ?? membership?.account.currency ?? 'USD'
  const settled = total === undefined ? 0 : total.delivered + total.undelivered + total.failed

  return (
    <Page
      title="Overview"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Period"
          value={period.id}
          onChange={id => setFilters({ period: id === PERIODS[0].id ? null : id })}
          data={PERIODS.map(({ id, label }) => ({ value: id, label }))}
        />
      }
    >
      {stats.error && <ReadFault error={stats.error} retry={stats.refetch} />}
      {(stats.data || !stats.error) && (
        <Stack gap="lg">
          <SandboxWarning />
          <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm">
            <Figure label="Sent" value={total?.sent} />
            <Figure
              label="Delivered"
              value={total?.delivered}
              note={total && settled > 0 ? `${formatShare(total.delivered / settled)} so far` : undefined}
            />
            <Figure
              label="Failed"
              value={total && total.failed + total.undelivered}
              tone={total && total.failed + total.undelivered > 0 ? 'bad' : undefined}
              note={<StatusLinks of={['failed', 'undelivered']} period={period.id} />}
            />
            <Figure
              label="Unknown"
              value={now?.unknown}
              format={count => formatCount(count, now?.unknownMore)}
              note="right now"
              tone={now && now.unknown > 0 ? 'odd' : undefined}
              {...(can('messages:read') && { href: '/messages?status=unknown' })}
            />
            <Figure
              label="Waiting"
              value={now?.waiting}
              format={count => formatCount(count, now?.waitingMore)}
              note={<StatusLinks of={['scheduled', 'queued', 'sending']} />}
            />
            {mode === 'live' ? (
              <Figure
                label="Cost"
                value={total?.cost}
                format={amount => formatSum(amount, currency)}
                note={wallet.data && `${formatSum(wallet.data.data.balance, currency)} in the wallet`}
              />
            ) : (
              <Figure
                label="Wallet"
                value={wallet.data?.data.balance}
                format={amount => formatSum(amount, currency)}
                note="tests are free"
              />
            )}
          </SimpleGrid>
          <Card title="Messages over time">
            {stats.data && stats.data.data.rows.length === 0 ? (
              <EmptyNote
                title={
                  mode === 'test' ? 'No test messages in this period' : 'Nothing was sent in this period'
                }
                text={
                  can('messages:create') && (
                    <>
                      <Anchor component={Link} href="/send">
                        Send one
                      </Anchor>{' '}
                      by hand
                      {can('api_keys:write') && (
                        <>
                          , or{' '}
                          <Anchor component={Link} href="/welcome">
                            from your own code
                          </Anchor>
                        </>
                      )}
                      .
                    </>
                  )
                }
              />
            ) : (
              <Suspense fallback={<Skeleton h={260} />}>
                {stats.data ? <Charts stats={stats.data.data} /> : <Skeleton h={260} />}
              </Suspense>
            )}
          </Card>
          <Grid gap="lg">
            <Grid.Col span={{ base: 12, lg: 7 }}>
              <Channels span={spanOf(period)} />
            </Grid.Col>
            {can('messages:read') && (
              <Grid.Col span={{ base: 12, lg: 5 }}>
                <Latest />
              </Grid.Col>
            )}
          </Grid>
        </Stack>
      )}
    </Page>
  )
}
