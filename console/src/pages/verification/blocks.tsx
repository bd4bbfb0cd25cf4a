import { Stack, Text } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import type { BlockView, FraudRule } from '../../../../sdk/index.ts'
import { useReadPages } from '../../api/use-read.ts'
import { channelName } from '../../parts/channel-name.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { regionName } from './region-name.ts'

const RULES: Record<FraudRule, string> = {
  allowedCountries: 'Countries allowed',
  numberType: 'Number type',
  prefix: 'Range of numbers',
  country: 'Country',
  conversion: 'Conversion',
  clientIp: 'IP address',
  spend: 'Daily cap',
  recipient: 'Same recipient',
}
const ACTIONS = [
  { value: 'blocked', label: 'Blocked' },
  { value: 'monitored', label: 'Only monitored' },
]
const NAMES = ['action', 'rule', 'to', 'country'] as const

/** Codes that the fraud guard refused, or in monitor mode would have. */
export default function Blocks() {
  const [filters, setFilters, clear] = useFilters(NAMES)
  const blocks = useReadPages('/api/v2/verification/blocks', { query: filters }, { everyMs: 10_000 })
  const [open, setOpen] = useState<BlockView | null>(null)
  return (
    <Stack gap={0}>
      <FilterBar onClear={clear}>
        <TextFilter label="Recipient" value={filters.to} onChange={to => setFilters({ to })} />
        <TextFilter
          label="Country, as in DE"
          value={filters.country}
          onChange={country => setFilters({ country: country?.toUpperCase() ?? null })}
          width={170}
        />
        <ChoiceFilter
          label="Action"
          value={filters.action}
          options={ACTIONS}
          onChange={action => setFilters({ action })}
          width={160}
        />
        <ChoiceFilter
          label="Rule"
          value={filters.rule}
          options={Object.entries(RULES).map(([value, label]) => ({ value, label }))}
          onChange={rule => setFilters({ rule })}
        />
      </FilterBar>
      <DataList
        label="Blocks"
        read={blocks}
        columns={COLUMNS}
        rowKey={block => block.id}
        onOpen={setOpen}
        opened={open?.id ?? null}
        height="calc(100dvh - 320px)"
        empty={
          <EmptyList
            icon={ShieldAlert}
            clear={clear}
            noMatch={{ title: 'No block matches these filters' }}
            title="Nothing was blocked"
            text="The fraud guard checks every code that a live key sends, and stops codes that are requested only to earn money from their traffic. Codes of test keys are not checked."
          />
        }
      />
      <BlockPanel block={open} onClose={() => setOpen(null)} />
    </Stack>
  )
}

function BlockPanel({ block, onClose }: { block: BlockView | null; onClose: () => void }) {
  return (
    <SidePanel
      opened={block !== null}
      onClose={onClose}
      title={block && <bdi>{block.to}</bdi>}
      aside={block && <BlockAction block={block} />}
    >
      {block && (
        <Stack gap="lg">
          <Text>{block.reason}</Text>
          <Facts
            facts={[
              ['Rule', RULES[block.rule]],
              ['Country', regionName(block.country)],
              ['Channel', channelName(block.channel)],
              [
                'Client IP address',
                block.clientIp === null ? (
                  'Not given'
                ) : (
                  <span key="ip" className="ph-mono">
                    {block.clientIp}
                  </span>
                ),
              ],
              ['When', <Time key="w" at={block.createdAt} />],
              ['Allowed again', <Time key="r" at={block.retryAt} exact />],
            ]}
          />
          <Text size="sm" c="dimmed">
            Only the operator can change the rules, so that a leaked key cannot turn the guard off. Ask them
            to add legitimate recipients to the list of those never blocked.
          </Text>
        </Stack>
      )}
    </SidePanel>
  )
}

function BlockAction({ block: { action } }: { block: BlockView }) {
  return action === 'blocked' ? (
    <StatusBadge status="blocked" tone="bad" />
  ) : (
    <StatusBadge status="monitored" tone="warn" label="Only monitored" />
  )
}

const COLUMNS: readonly Column<BlockView>[] = [
  { title: 'Action', width: '104px', render: block => <BlockAction block={block} /> },
  {
    title: 'Recipient',
    width: 'minmax(112px, 0.8fr)',
    render: ({ to }) => <bdi className="ph-num">{to}</bdi>,
  },
  { title: 'Rule', width: '130px', wideOnly: true, render: ({ rule }) => RULES[rule] },
  { title: 'Reason', width: 'minmax(180px, 2.6fr)', wideOnly: true, render: ({ reason }) => reason },
  { title: 'Country', width: '110px', wideOnly: true, render: ({ country }) => regionName(country) },
  { title: 'When', width: '86px', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
]
