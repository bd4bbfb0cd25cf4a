import type { ConnectionView } from '../../../../../sdk/index.ts'
import { useRead } from '../../../api/use-read.ts'
import { CopyId } from '../../../parts/copy-id.tsx'
import { Card } from '../../../parts/page.tsx'
import { Facts } from '../../../parts/side-panel.tsx'
import { Time } from '../../../parts/time.tsx'
import { AccountName, useAccountNames } from '../account-names.tsx'

export function ConnectionFacts({ connection }: { connection: ConnectionView }) {
  const { id, provider, accountId, state, createdAt } = connection
  const names = useAccountNames()
  const webhook = useRead('/api/admin/connections/{id}/webhook', { path: { id } })
  const url = webhook.data?.data.url
  return (
    <Card title="Status">
      <Facts
        facts={[
          ['Provider', provider],
          [
            'Account',
            accountId === null ? 'Every account' : <AccountName key="a" id={accountId} names={names} />,
          ],
          state.detail === ''
            ? null
            : [
                'Link',
                <span key="d" className="ph-words">
                  {state.detail}
                </span>,
              ],
          [
            'Receipt URL',
            url ? (
              <CopyId key="u" id={url} what="the address" />
            ) : (
              'None: no public address is configured, or the provider needs none'
            ),
          ],
          ['Created', <Time key="t" at={createdAt} />],
        ]}
      />
    </Card>
  )
}
