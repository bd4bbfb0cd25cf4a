import { Skeleton, Text } from '@mantine/core'
import { useApi } from '../../../api/context.tsx'
import { useRead } from '../../../api/use-read.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { FraudForm } from '../fraud/fraud-form.tsx'

/** The fraud rules of one account, which take precedence over the rules for all accounts. */
export default function AccountFraud({ accountId }: { accountId: string }) {
  const api = useApi()
  const path = { id: accountId }
  const read = useRead('/api/admin/accounts/{id}/fraud', { path })
  if (!read.data && read.error) return <ReadFault error={read.error} retry={read.refetch} />
  if (!read.data) return <Skeleton h={420} maw={860} />
  return (
    <div style={{ maxWidth: 860 }}>
      <Text c="dimmed" mb="md">
        Empty fields use the rules for all accounts. Numbers and addresses that are never blocked are added to
        those for all accounts.
      </Text>
      <FraudForm
        view={read.data.data}
        usual="As for all accounts"
        read={async () => (await api.get('/api/admin/accounts/{id}/fraud', { path })).data}
        save={body => api.put('/api/admin/accounts/{id}/fraud', { path, body })}
      />
    </div>
  )
}
