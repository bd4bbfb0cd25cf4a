import { Badge } from '@mantine/core'
import type { Person } from '../../../../../sdk/index.ts'
import type { Column } from '../../../parts/data-list.tsx'
import { NameCell } from '../../../parts/name-cell.tsx'
import { MaybeTime } from '../../../parts/time.tsx'

/** The columns of a person in any list. */
export const PERSON_COLUMNS: readonly Column<Person>[] = [
  {
    title: 'Name',
    width: 'minmax(110px, 1.2fr)',
    render: ({ name, operator }) => (
      <NameCell
        name={name}
        badge={
          operator && (
            <Badge size="sm" variant="default" style={{ flex: 'none' }}>
              Operator
            </Badge>
          )
        }
      />
    ),
  },
  { title: 'E-mail', width: 'minmax(120px, 1.4fr)', render: ({ email }) => <bdi>{email}</bdi> },
  {
    title: 'Second factor',
    width: '110px',
    wideOnly: true,
    render: ({ totp }) => (totp ? 'On' : <span style={{ color: 'var(--ph-warn)' }}>Off</span>),
  },
  {
    title: 'Last seen',
    width: '104px',
    wideOnly: true,
    render: ({ lastSeenAt }) => <MaybeTime at={lastSeenAt} none="Never" />,
  },
]
