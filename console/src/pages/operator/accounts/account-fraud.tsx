import { Skeleton, Text } from '@mantine/core'
import { useApi } from '../../../api/context.tsx'
import { useRead } from '../../../api/use-read.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { FraudForm } from '../fraud/fraud-form.tsx'

/** The rules of the guard for one account: its own over those for all. */
export default function AccountFraud({ accountId }: { accountId: string }) {
  const api = useApi()
  const path = { id: accountId }
  const read = useRead('/api/admin/accounts/{id}/fraud', { path })
  if (!read.data && read.error) return <ReadFault error={read.error} retry={read.refetch} />
  if (!read.data) return <Skeleton h={420} maw={860} />
  return (
    <div style={{ maxWidth: 860 }}>
      <Text c="dimmed" mb="md">
        What is left empty is as for all accounts. Numbers and addresses that are never blocked come on top of
        those for all.
      </Text>
      <FraudForm
        view={read.data.data}
        usual="As for all"
        save={body => api.put('/api/admin/accounts/{id}/fraud', { path, body })}
      />
    </div>
  )
}
