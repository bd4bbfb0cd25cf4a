import { BadgeCheck } from 'lucide-react'
import type { OfficialSender } from '../../../../sdk/index.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { asPagedRead } from '../../parts/as-paged-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { defaultColumn } from '../../parts/default-column.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { humanize, StatusBadge, type Tone } from '../../parts/status-badge.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'

const PATH = '/api/v2/official-senders'
const POLL_EVERY_MS = 15_000

/** WhatsApp Business numbers, with the provider's quality rating and limit. */
export default function OfficialSenders() {
  const { can } = useSession()
  const read = useRead(PATH, undefined, { everyMs: POLL_EVERY_MS })
  const makeDefault = useAction(
    (api, { id }: OfficialSender) => api.post('/api/v2/official-senders/{id}/default', { path: { id } }),
    {
      changes: [PATH, '/api/v2/account'],
      onDone: ({ data }) => notifyDone(`${data.displayName} is the default sender now.`),
    },
  )
  return (
    <Page
      title="Official senders"
      lead="Your WhatsApp Business numbers, then the platform’s. The provider rates the quality and sets the limit, which grows while the quality is green."
    >
      <DataList
        label="Official senders"
        read={asPagedRead(read.data?.data, read)}
        rowKey={sender => sender.id}
        columns={[
          ...COLUMNS,
          defaultColumn({
            nameOf: ({ displayName }) => displayName,
            may: () => can('messages:create'),
            choose: makeDefault,
          }),
        ]}
        empty={
          <EmptyNote
            icon={BadgeCheck}
            title="No official senders"
            text="The operator connects a WhatsApp Business number for the account, or one for all accounts. They need the number’s id and an access token from Meta."
          />
        }
      />
    </Page>
  )
}

/** As Meta rates a number. */
const QUALITY: Readonly<Record<string, Tone>> = { GREEN: 'good', YELLOW: 'warn', RED: 'bad' }

const COLUMNS: readonly Column<OfficialSender>[] = [
  {
    title: 'Name',
    width: 'minmax(88px, 1.6fr)',
    render: ({ displayName }) => <NameCell name={displayName} />,
  },
  {
    title: 'Number',
    width: '150px',
    wideOnly: true,
    render: ({ phoneNumber, isPlatform }) => (
      <bdi className="ph-num">{phoneNumber ?? (isPlatform ? 'The platform’s' : '–')}</bdi>
    ),
  },
  { title: 'Status', width: '104px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Quality',
    width: '110px',
    wideOnly: true,
    render: ({ qualityRating }) =>
      qualityRating === null ? (
        '–'
      ) : (
        <StatusBadge
          status={qualityRating}
          tone={QUALITY[qualityRating.toUpperCase()] ?? 'still'}
          label={humanize(qualityRating.toLowerCase())}
        />
      ),
  },
  {
    title: 'Daily limit',
    width: 'minmax(130px, 1fr)',
    wideOnly: true,
    render: ({ messagingLimit }) => (messagingLimit === null ? '–' : limitLabel(messagingLimit)),
  },
  {
    title: 'Last checked',
    width: '110px',
    wideOnly: true,
    render: ({ lastCheckedAt }) => <MaybeTime at={lastCheckedAt} none="Not yet" />,
  },
]

/** `TIER_1K` is "1K conversations"; other values stay as they are. */
function limitLabel(limit: string): string {
  const tier = /^TIER_(\d+K?|UNLIMITED)$/.exec(limit)?.[1]
  if (tier === undefined) return limit
  return tier === 'UNLIMITED' ? 'Unlimited' : `${tier} conversations`
}
