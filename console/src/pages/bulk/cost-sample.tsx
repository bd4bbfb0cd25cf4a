import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Channel, Estimate, Posthorn } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { channelName } from '../../parts/channel-name.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { formatSum } from '../../parts/money.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { useSession } from '../../session/context.tsx'
import type { OpenSheet } from './open-sheet.ts'
import type { Plan } from './plan.ts'

const SAMPLE = 24
const CONCURRENCY = 6

type Sampled = { line: number; estimate: Estimate }
type Sample = { good: number; sampled: Sampled[] }

/** An estimate of the job's cost from the API's estimates of rows from all over the file. */
export function CostSample({ sheet, plan }: { sheet: OpenSheet; plan: Plan }) {
  const api = useApi()
  const { mode } = useSession()
  const sample = useQuery({
    queryKey: ['bulk-sample', sheet.file.name, sheet.file.size, sheet.file.lastModified, plan, mode],
    queryFn: ({ signal }) => readSample(api, sheet, plan, signal),
    retry: false,
    gcTime: 0,
  })
  if (sample.error) return <ReadFault error={sample.error} retry={sample.refetch} />
  if (!sample.data) return <Skeleton h={110} />
  const { good, sampled } = sample.data
  const refused = sampled.filter(({ estimate }) => !estimate.deliverable)
  return (
    <Stack gap="md">
      <Facts facts={[costOf(sample.data, mode === 'live'), routesOf(sampled)]} />
      {refused.length > 0 && (
        <div role="alert">
          <Text size="sm" fw={600} c="var(--ph-bad)">
            {refused.length} of {sampled.length} checked rows would be refused; the whole job is rejected
            then:
          </Text>
          {refused.slice(0, 5).map(({ line, estimate }) => (
            <Text key={line} size="sm">
              Line {line.toLocaleString()}: {estimate.reasons.map(({ message }) => message).join(' ')}
            </Text>
          ))}
        </div>
      )}
      <Text size="xs" c="dimmed">
        {sampled.length === good
          ? 'Every row was checked.'
          : `A sample of ${sampled.length} rows from the whole file was checked.`}{' '}
        Nothing was sent or charged.
      </Text>
    </Stack>
  )
}

async function readSample(api: Posthorn, sheet: OpenSheet, plan: Plan, signal: AbortSignal): Promise<Sample> {
  const { good, rows } = await sheet.sample(plan, SAMPLE)
  const sampled: Sampled[] = []
  for (let at = 0; at < rows.length; at += CONCURRENCY) {
    const some = rows.slice(at, at + CONCURRENCY).map(async ({ line, message }) => {
      const { data: estimate } = await api.post('/api/v2/messages/estimate', { body: message, signal })
      return { line, estimate }
    })
    sampled.push(...(await Promise.all(some)))
  }
  return { good, sampled }
}

function costOf({ good, sampled }: Sample, live: boolean): readonly [string, string] | null {
  const priced = sampled.flatMap(({ estimate }) => (estimate.billing ? [estimate.billing] : []))
  const currency = priced[0]?.currency
  if (currency === undefined) return null
  const mean = priced.reduce((sum, { estimatedCost }) => sum + estimatedCost, 0) / priced.length
  const parts = priced.reduce((sum, billing) => sum + (billing.parts ?? 0), 0) / priced.length
  const told = `${sampled.length === good ? '' : 'about '}${formatSum(mean * good, currency)}`
  const long = parts > 1 ? `, ${Number(parts.toFixed(1))} parts a message` : ''
  // Test messages are priced like live ones, but not charged.
  return live ? ['Cost', told + long] : ['Cost in live mode', `${told}${long}; test messages are free`]
}

function routesOf(sampled: readonly Sampled[]): readonly [string, string] | null {
  const counts = new Map<string, number>()
  for (const { estimate } of sampled) {
    if (!estimate.resolved) continue
    const route = `${channelName(estimate.resolved.channel as Channel)} via ${estimate.resolved.provider}`
    counts.set(route, (counts.get(route) ?? 0) + 1)
  }
  if (counts.size === 0) return null
  const told = [...counts].toSorted((left, right) => right[1] - left[1])
  return [
    'Route',
    told
      .map(([route, count]) => (told.length === 1 ? route : `${route} (${count} of ${sampled.length})`))
      .join(', '),
  ]
}
