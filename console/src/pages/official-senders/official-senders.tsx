import { BadgeCheck } from 'lucide-react'
import type { OfficialSender } from '../../../../sdk/index.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { defaultColumn } from '../../parts/default-choice.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { inWords, StatusBadge, type Tone } from '../../parts/status-badge.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { tellDone } from '../../parts/toast.tsx'
import { wholeList } from '../../parts/whole-list.ts'
import { useSession } from '../../session/context.tsx'

const PATH = '/api/v2/official-senders'
const LOOK_EVERY_MS = 15_000

/** WhatsApp Business numbers, with what their provider says of them. */
export default function OfficialSenders() {
  const { can } = useSession()
  const read = useRead(PATH, undefined, { everyMs: LOOK_EVERY_MS })
  const prefer = useAction(
    (api, { id }: OfficialSender) => api.post('/api/v2/official-senders/{id}/default', { path: { id } }),
    {
      changes: [PATH, '/api/v2/account'],
      onDone: ({ data }) => tellDone(`Messages that name no sender come from ${data.displayName} now.`),
    },
  )
  return (
    <Page
      title="Official senders"
      lead="Your numbers on WhatsApp Business, then the platform’s. Quality and limit are the provider’s words: keep the first green and the second grows."
    >
      <DataList
        label="Official senders"
        read={wholeList(read.data?.data, read)}
        rowKey={sender => sender.id}
        columns={[
          ...COLUMNS,
          defaultColumn({
            nameOf: ({ displayName }) => displayName,
            may: () => can('messages:create'),
            choose: prefer,
          }),
        ]}
        empty={
          <EmptyNote
            icon={BadgeCheck}
            title="No official senders"
            text="The operator connects a WhatsApp Business number for the account, or one of the platform’s for everybody. Ask them: they need the number’s id and a token of Meta’s."
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
          label={inWords(qualityRating.toLowerCase())}
        />
      ),
  },
  {
    title: 'May begin a day',
    width: 'minmax(130px, 1fr)',
    wideOnly: true,
    render: ({ messagingLimit }) => (messagingLimit === null ? '–' : limitInWords(messagingLimit)),
  },
  {
    title: 'Checked',
    width: '110px',
    wideOnly: true,
    render: ({ lastCheckedAt }) => <MaybeTime at={lastCheckedAt} none="Not yet" />,
  },
]

/** `TIER_1K` is "1K conversations"; another word stays as it is. */
function limitInWords(limit: string): string {
  const tier = /^TIER_(\d+K?|UNLIMITED)$/.exec(limit)?.[1]
  if (tier === undefined) return limit
  return tier === 'UNLIMITED' ? 'Unlimited' : `${tier} conversations`
}
