import { useApi } from '../../api/context.tsx'
import { useReadPages } from '../../api/use-read.ts'
import { Page } from '../../parts/page.tsx'
import { useSession } from '../../session/context.tsx'
import { type KeyActions, KeyList } from './key-list.tsx'

const PATH = '/api/v2/api-keys'

/** The account's own keys. */
export default function Keys() {
  const api = useApi()
  const { can, may } = useSession()
  const keys = useReadPages(PATH)
  const actions: KeyActions = {
    create: async body => (await api.post(PATH, { body })).data.apiKey,
    rotate: async (id, overlapSeconds) =>
      (await api.post('/api/v2/api-keys/{id}/rotate', { path: { id }, body: { overlapSeconds } })).data
        .apiKey,
    revoke: id => api.delete('/api/v2/api-keys/{id}', { path: { id } }),
    changes: [PATH],
  }
  return (
    <KeyList read={keys} actions={can('api_keys:write') ? actions : null} mayCreateOwners={may('owner')}>
      {(make, list) => (
        <Page
          title="API keys"
          lead="Programs use keys to call the API for this account. Test keys send only to the sandbox."
          actions={make}
        >
          {list}
        </Page>
      )}
    </KeyList>
  )
}
