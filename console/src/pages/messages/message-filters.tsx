import type { Message, MessageStatus, MessageType } from '../../../../sdk/index.ts'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { PERIODS, periodStart } from '../../parts/periods.ts'
import { inWords } from '../../parts/status-badge.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'

const STATUSES: readonly MessageStatus[] = [
  'scheduled',
  'queued',
  'sending',
  'unknown',
  'sent',
  'delivered',
  'read',
  'undelivered',
  'failed',
  'cancelled',
  'expired',
]
const TYPES: readonly MessageType[] = ['otp', 'utility', 'marketing', 'free_text']
const ERRORS = [
  'RECIPIENT_REJECTED',
  'RECIPIENT_SUPPRESSED',
  'CHATAPP_NOT_REGISTERED',
  'MESSAGE_REJECTED',
  'PROVIDER_UNAVAILABLE',
  'INTERNAL_ERROR',
] as const
/** In the place of a mode: without any it is the one that somebody works in. */
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
export type MessagesAsked = Record<string, string | undefined>

/** What of the messages is looked at: as the URL has it, and as the API is asked. */
export function useMessageFilters() {
  const { mode } = useSession()
  const [filters, setFilters, clear] = useFilters(NAMES)
  const { period, mode: wanted = modeOf(filters, mode), ...rest } = filters
  const query: MessagesAsked = {
    ...rest,
    mode: wanted === BOTH ? undefined : wanted,
    createdAfter: periodStart(period) ?? undefined,
  }
  return { filters, setFilters, clear, query }
}

/** What came of a job or a template is of the mode in which that was used. */
function modeOf({ templateId, bulkJobId }: Filters, mode: string): string {
  return templateId === undefined && bulkJobId === undefined ? mode : BOTH
}

/** What of a query a message may come to fit, or to fit no more. */
export function fitsAsNow({ status, errorCode }: MessagesAsked, message: Message): boolean {
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
      <TextFilter label="Recipient" value={filters.to} onChange={to => setFilters({ to })} />
      <ChoiceFilter
        label="Status"
        value={filters.status}
        options={STATUSES.map(value => ({ value, label: inWords(value) }))}
        onChange={status => setFilters({ status })}
        width={140}
      />
      <ChoiceFilter
        label="Channel"
        value={filters.channel}
        options={CHANNELS.map(value => ({ value, label: channelName(value) }))}
        onChange={channel => setFilters({ channel })}
      />
      <ChoiceFilter
        label="Type"
        value={filters.messageType}
        options={TYPES.map(value => ({ value, label: value === 'otp' ? 'OTP' : inWords(value) }))}
        onChange={messageType => setFilters({ messageType })}
        width={130}
      />
      <ChoiceFilter
        label="Error"
        value={filters.errorCode}
        options={ERRORS.map(value => ({ value, label: inWords(value.toLowerCase()) }))}
        onChange={errorCode => setFilters({ errorCode })}
        width={150}
      />
      <ChoiceFilter
        label="Mode"
        value={filters.mode}
        options={MODES}
        onChange={mode => setFilters({ mode })}
        width={120}
      />
      <ChoiceFilter
        label="Any time"
        value={filters.period}
        options={PERIODS}
        onChange={period => setFilters({ period })}
        width={150}
      />
      {filters.templateId !== undefined && <OneOf name="Template" id={filters.templateId} />}
      {filters.bulkJobId !== undefined && <OneOf name="Job" id={filters.bulkJobId} />}
    </FilterBar>
  )
}

function OneOf({ name, id }: { name: string; id: string }) {
  return (
    <span className="ph-mono" style={{ color: 'var(--ph-quiet)' }}>
      {name} {id}
    </span>
  )
}
