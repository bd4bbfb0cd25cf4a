import { lazy } from 'react'
import { AccountList } from './account-list.tsx'

const AccountPage = lazy(() => import('./account-page.tsx'))

/** The list of accounts, or one account with its plan, limits and credit. */
export default function Accounts({ accountId, tab }: { accountId?: string; tab?: string }) {
  if (accountId === undefined) return <AccountList />
  return <AccountPage key={accountId} accountId={accountId} {...(tab !== undefined && { tab })} />
}
