import { Button } from '@mantine/core'
import { Building2, Plus } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { AdminAccount } from '../../../../../sdk/index.ts'
import { useReadPages } from '../../../api/use-read.ts'
import { countryName } from '../../../parts/country-name.ts'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyList } from '../../../parts/empty-list.tsx'
import { FilterBar, TextFilter } from '../../../parts/filter-bar.tsx'
import { breakable, formatSum } from '../../../parts/money.tsx'
import { NameCell } from '../../../parts/name-cell.tsx'
import { Page } from '../../../parts/page.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { useFilters } from '../../../parts/use-filters.ts'
import { useShowOnce } from '../../../parts/use-show-once.tsx'
import { CreateAccount, type CreatedAccount } from './create-account.tsx'
import { FirstKeysDialog } from './first-keys-dialog.tsx'
import { ACCOUNTS } from './paths.ts'

export function AccountList() {
  const [, go] = useLocation()
  const [filters, setFilters, clear] = useFilters(['q'])
  const accounts = useReadPages(ACCOUNTS, { query: filters })
  const [making, setMaking] = useState(false)
  const [made, setMade] = useState<CreatedAccount | null>(null)
  const showOnce = useShowOnce()
  return (
    <Page
      title="Accounts"
      lead="Each account has its own keys, members, wallet and plan."
      actions={
        <Button leftSection={<Plus size={16} />} onClick={() => setMaking(true)}>
          New account
        </Button>
      }
    >
      <FilterBar onClear={clear}>
        <TextFilter label="Name or id" value={filters.q} onChange={q => setFilters({ q })} />
      </FilterBar>
      <DataList
        label="Accounts"
        read={accounts}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={({ id }) => go(`/operator/accounts/${id}`)}
        empty={
          <EmptyList
            icon={Building2}
            clear={clear}
            noMatch={{
              title: 'No matching accounts',
              text: 'Search for a part of the name, or for the whole id.',
            }}
            title="No accounts yet"
            text="Create one for each team or customer that sends."
            action={<Button onClick={() => setMaking(true)}>New account</Button>}
          />
        }
      />
      <CreateAccount
        opened={making}
        onClose={() => setMaking(false)}
        onMade={account => {
          setMaking(false)
          const keys = [account.testKey, account.liveKey].filter(key => key !== null).join('\n')
          showOnce(`The first keys of ${account.account.name}`, keys, () => setMade(account))
        }}
      />
      <FirstKeysDialog
        made={made}
        onClose={() => {
          if (made) go(`/operator/accounts/${made.account.id}`)
          setMade(null)
        }}
      />
    </Page>
  )
}

const COLUMNS: readonly Column<AdminAccount>[] = [
  {
    title: 'Name',
    width: 'minmax(90px, 2fr)',
    render: ({ name }) => <NameCell name={name} />,
  },
  { title: 'State', width: '98px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Country',
    width: 'minmax(100px, 0.8fr)',
    wideOnly: true,
    render: ({ homeCountry }) => countryName(homeCountry),
  },
  {
    title: 'Plan',
    width: 'minmax(100px, 1fr)',
    wideOnly: true,
    render: ({ plan }) => (
      <>
        <bdi>{plan.name}</bdi>
        {plan.status === 'inactive' && ' (inactive)'}
      </>
    ),
  },
  {
    title: 'Balance',
    width: 'minmax(132px, 1fr)',
    align: 'end',
    breaksOnPhone: true,
    render: ({ wallet }) => (
      <span className="ph-num">{breakable(formatSum(wallet.balance, wallet.currency))}</span>
    ),
  },
  {
    title: 'Created',
    width: '110px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
]
