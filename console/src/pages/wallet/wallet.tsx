import { Button, SegmentedControl, SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { BellRing } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useRead } from '../../api/use-read.ts'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Figure } from '../../parts/figure.tsx'
import { formatSum } from '../../parts/money.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { Ledger } from './ledger.tsx'
import { LowBalance } from './low-balance.tsx'
import { daysBack, PERIODS, periodOf, USUAL_PERIOD } from './spans.ts'

const SpendChart = lazy(() => import('./spend-chart.tsx'))
const POLL_EVERY_MS = 10_000

/** The balance, the spending and the ledger. */
export default function Wallet() {
  const { may } = useSession()
  const [filters, setFilters] = useFilters(['period'])
  const period = periodOf(filters.period)
  const wallet = useRead('/api/v2/wallet', undefined, { everyMs: POLL_EVERY_MS })
  const stats = useRead(
    '/api/v2/stats',
    { query: { ...daysBack(period.days), interval: 'day', mode: 'live' } },
    { everyMs: POLL_EVERY_MS },
  )
  const [changing, setChanging] = useState(false)
  const data = wallet.data?.data
  const money = (amount: number) => formatSum(amount, data?.currency ?? 'USD')
  const low = data !== undefined && data.lowBalance > 0 && data.balance < data.lowBalance
  return (
    <Page
      title="Wallet"
      lead="Money is held when a message is accepted, charged when a provider accepts it, and released if none does."
      actions={
        may('owner') && (
          <Button
            variant="default"
            leftSection={<BellRing size={15} />}
            disabled={!data}
            onClick={() => setChanging(true)}
          >
            Low balance
          </Button>
        )
      }
    >
      {wallet.error && <ReadFault error={wallet.error} retry={wallet.refetch} />}
      {(data || !wallet.error) && (
        <Stack gap="lg">
          <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
            <Figure
              label="Balance"
              value={data?.balance}
              format={money}
              tone={low ? 'bad' : undefined}
              note={data && noteOfBalance(data.lowBalance, low, money)}
            />
            <Figure label="Held" value={data?.held} format={money} note="for messages on their way" />
            <Figure label="Spent" value={data?.captured} format={money} note="in total" />
            <Figure label="Credited" value={data?.credited} format={money} note="in total, less debits" />
          </SimpleGrid>
          <Card
            title="Spent per day"
            aside={
              <SegmentedControl
                size="xs"
                aria-label="Period"
                value={period.id}
                onChange={id => setFilters({ period: id === USUAL_PERIOD ? null : id })}
                data={PERIODS.map(({ id, label }) => ({ value: id, label }))}
              />
            }
          >
            {stats.error && <ReadFault error={stats.error} retry={stats.refetch} />}
            {stats.data && stats.data.data.total.cost === 0 && (
              <EmptyNote
                title="Nothing was spent"
                text="The cost of live messages appears here, day by day."
              />
            )}
            {stats.data && stats.data.data.total.cost !== 0 && (
              <Suspense fallback={<Skeleton h={220} />}>
                <SpendChart stats={stats.data.data} />
              </Suspense>
            )}
            {stats.isPending && <Skeleton h={220} />}
          </Card>
          <Ledger />
        </Stack>
      )}
      {data && <LowBalance opened={changing} wallet={data} onClose={() => setChanging(false)} />}
    </Page>
  )
}

function noteOfBalance(lowBalance: number, low: boolean, money: (amount: number) => string): string {
  if (lowBalance === 0) return 'available'
  return low ? `below ${money(lowBalance)}` : `alert below ${money(lowBalance)}`
}
