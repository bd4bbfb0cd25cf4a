import { MESSAGE_ERRORS, MESSAGE_STATUSES, MESSAGE_TYPES, type Message } from '../../../../sdk/index.ts'
import { ChannelFilter, PeriodFilter } from '../../parts/common-filters.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { periodStart } from '../../parts/periods.ts'
import { humanize } from '../../parts/status-badge.tsx'
import { typeName } from '../../parts/type-name.ts'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'

/** The filter value for both modes; without a filter it is the current mode. */
const BOTH = 'both'
const MODES = [
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
  { value: BOTH, label: 'Live and test' },
]
const NAMES = [
  'to',
  'status',
  'channel',
  'messageType',
  'errorCode',
  'mode',
  'period',
  'templateId',
  'bulkJobId',
] as const

type Filters = Partial<Record<(typeof NAMES)[number], string>>
export type MessageQuery = Record<string, string | undefined>

/** The filters, in the URL and as the API's query. */
export function useMessageFilters() {
  const { mode } = useSession()
  const [filters, setFilters, clear] = useFilters(NAMES)
  const { period, mode: wanted = modeOf(filters, mode), ...rest } = filters
  const query: MessageQuery = {
    ...rest,
    mode: wanted === BOTH ? undefined : wanted,
    createdAfter: periodStart(period) ?? undefined,
  }
  return { filters, setFilters, clear, query }
}

/** The messages of a job or template are shown in both modes, since the job or template may be used in either. */
function modeOf({ templateId, bulkJobId }: Filters, mode: string): string {
  return templateId === undefined && bulkJobId === undefined ? mode : BOTH
}

/** Whether a message still matches those filters whose fields can change. */
export function matchesChangingFilters({ status, errorCode }: MessageQuery, message: Message): boolean {
  return (
    (status === undefined || message.status === status) &&
    (errorCode === undefined || message.errorCode === errorCode)
  )
}

export function MessageFilterBar({
  filters,
  setFilters,
  clear,
}: Omit<ReturnType<typeof useMessageFilters>, 'query'>) {
  return (
    <FilterBar onClear={clear}>
      <TextFilter label="Recipient" value={filters.to} onChange={to => setFilters({ to })} width={180} />
      <ChoiceFilter
        label="Status"
        value={filters.status}
        options={MESSAGE_STATUSES.map(value => ({ value, label: humanize(value) }))}
        onChange={status => setFilters({ status })}
        width={125}
      />
      <ChannelFilter value={filters.channel} onChange={channel => setFilters({ channel })} width={165} />
      <ChoiceFilter
        label="Type"
        value={filters.messageType}
        options={MESSAGE_TYPES.map(value => ({ value, label: typeName(value) }))}
        onChange={messageType => setFilters({ messageType })}
        width={120}
      />
      <ChoiceFilter
        label="Error"
        value={filters.errorCode}
        options={MESSAGE_ERRORS.map(value => ({ value, label: humanize(value.toLowerCase()) }))}
        onChange={errorCode => setFilters({ errorCode })}
        width={150}
      />
      <ChoiceFilter
        label="Mode"
        value={filters.mode}
        options={MODES}
        onChange={mode => setFilters({ mode })}
        width={115}
      />
      <PeriodFilter value={filters.period} onChange={period => setFilters({ period })} width={145} />
      {filters.templateId !== undefined && <IdFilterNote name="Template" id={filters.templateId} />}
      {filters.bulkJobId !== undefined && <IdFilterNote name="Job" id={filters.bulkJobId} />}
    </FilterBar>
  )
}

function IdFilterNote({ name, id }: { name: string; id: string }) {
  return (
    <span className="ph-mono" style={{ color: 'var(--ph-quiet)' }}>
      {name} {id}
    </span>
  )
}
