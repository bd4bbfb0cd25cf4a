import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useRead } from '../../api/use-read.ts'

/** The API's largest page; further accounts are shown by their ids. */
const MAX_ACCOUNTS = 500

/** The names of accounts by their ids. */
export function useAccountNames(): ReadonlyMap<string, string> {
  const accounts = useRead('/api/admin/accounts', { query: { limit: MAX_ACCOUNTS } })
  return new Map(accounts.data?.data.map(({ id, name }) => [id, name]))
}

/** The name of an account; "The platform" for null. */
export function AccountName({ id, names }: { id: string | null; names: ReadonlyMap<string, string> }) {
  if (id === null) return <span style={{ color: 'var(--ph-quiet)' }}>The platform</span>
  const name = names.get(id)
  return name === undefined ? <span className="ph-mono">{id}</span> : <bdi>{name}</bdi>
}

export function AccountLink({ id, name }: { id: string; name: string }) {
  return (
    <Anchor component={Link} href={`/operator/accounts/${id}`} inherit>
      <bdi>{name}</bdi>
    </Anchor>
  )
}
