import { Group, Title } from '@mantine/core'
import type { AdminAccountWithKeys } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { asPagedRead } from '../../../parts/as-paged-read.ts'
import { type KeyActions, KeyList } from '../../keys/key-list.tsx'
import { ACCOUNTS } from './paths.ts'

const HERE = { isPending: false, error: null, refetch: () => {} }

/** The account's keys, for when its owner has none, or a key was leaked. */
export function AccountKeys({ account: { id: accountId, keys } }: { account: AdminAccountWithKeys }) {
  const api = useApi()
  const actions: KeyActions = {
    create: async body =>
      (await api.post('/api/admin/accounts/{id}/keys', { path: { id: accountId }, body })).data.apiKey,
    rotate: async (keyId, overlapSeconds) =>
      (
        await api.post('/api/admin/accounts/{id}/keys/{keyId}/rotate', {
          path: { id: accountId, keyId },
          body: { overlapSeconds },
        })
      ).data.apiKey,
    revoke: keyId => api.delete('/api/admin/accounts/{id}/keys/{keyId}', { path: { id: accountId, keyId } }),
    changes: [ACCOUNTS],
  }
  return (
    <KeyList read={asPagedRead(keys, HERE)} actions={actions} mayCreateOwners height="420px">
      {(make, list) => (
        <section>
          <Group justify="space-between" mb="sm">
            <Title order={2} size="h3">
              API keys
            </Title>
            {make}
          </Group>
          {list}
        </section>
      )}
    </KeyList>
  )
}
