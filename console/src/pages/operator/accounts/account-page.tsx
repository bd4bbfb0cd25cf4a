import { Anchor, Button, SimpleGrid, Skeleton, Stack } from '@mantine/core'
import { Coins } from 'lucide-react'
import { lazy, useState } from 'react'
import { Link } from 'wouter'
import type { AdminAccountWithKeys } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { CopyId } from '../../../parts/copy-id.tsx'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Money } from '../../../parts/money.tsx'
import { Card, Page } from '../../../parts/page.tsx'
import { Facts } from '../../../parts/side-panel.tsx'
import { StatusBadge } from '../../../parts/status-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { UrlTabs } from '../../../parts/url-tabs.tsx'
import { AccountForm } from './account-form.tsx'
import { AccountKeys } from './account-keys.tsx'
import { AddCredit } from './add-credit.tsx'
import { PlanForm } from './plan-form.tsx'

const AccountSending = lazy(() => import('./account-sending.tsx'))
const AccountFraud = lazy(() => import('./account-fraud.tsx'))
const AccountPeople = lazy(() => import('./account-people.tsx'))

const BACK = (
  <Anchor component={Link} href="/operator/accounts" size="sm">
    All accounts
  </Anchor>
)

/** One account, as the operator may change it. */
export default function AccountPage({ accountId, tab }: { accountId: string; tab?: string }) {
  const read = useRead('/api/admin/accounts/{id}', { path: { id: accountId } })
  const [crediting, setCrediting] = useState(false)
  const account = read.data?.data
  if (!account) {
    return (
      <Page title="Account" lead={BACK}>
        {read.error ? <ReadFault error={read.error} retry={read.refetch} /> : <Skeleton h={420} />}
      </Page>
    )
  }
  return (
    <Page
      title={account.name}
      lead={BACK}
      actions={
        <>
          <StatusBadge status={account.status} />
          <Button leftSection={<Coins size={16} />} onClick={() => setCrediting(true)}>
            {' '}
            Add credit{' '}
          </Button>
        </>
      }
    >
      <UrlTabs
        path={`/operator/accounts/${accountId}`}
        {...(tab !== undefined && { tab })}
        tabs={[
          { value: 'account', label: 'Account', view: <Overview account={account} /> },
          { value: 'sending', label: 'Sending', view: <AccountSending account={account} /> },
          { value: 'fraud', label: 'Fraud rules', view: <AccountFraud accountId={accountId} /> },
          { value: 'people', label: 'People', view: <AccountPeople account={account} /> },
        ]}
      />
      <AddCredit account={account} opened={crediting} onClose={() => setCrediting(false)} />
    </Page>
  )
}

function Overview({ account }: { account: AdminAccountWithKeys }) {
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Card title="Wallet">
          <WalletFacts account={account} />
        </Card>
        <Card title="Account">
          <AccountForm account={account} />
        </Card>
      </SimpleGrid>
      <Card title="Plan and limits">
        <PlanForm account={account} />
      </Card>
      <AccountKeys account={account} />
    </Stack>
  )
}

function WalletFacts({ account }: { account: AdminAccountWithKeys }) {
  const { wallet, createdAt, id } = account
  const money = (amount: number) => <Money amount={amount} currency={wallet.currency} />
  return (
    <Facts
      facts={[
        ['Available balance', money(wallet.balance)],
        ['Held', money(wallet.held)],
        ['Spent', money(wallet.captured)],
        ['Total credited', money(wallet.credited)],
        ['Created', <Time key="t" at={createdAt} />],
        ['Id', <CopyId key="i" id={id} />],
      ]}
    />
  )
}
