import { Anchor, Select, Skeleton, Stack } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'wouter'
import { useRead } from '../../../api/use-read.ts'
import { channelName } from '../../../parts/channel-name.ts'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Card, Page } from '../../../parts/page.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { useGo } from '../../../parts/use-go.ts'
import { ConnectionForm } from './connection-form.tsx'

/** First the provider, then the form that its schema draws. */
export default function NewConnection() {
  const go = useGo()
  const read = useRead('/api/admin/providers')
  const [key, setKey] = useState<string | null>(null)
  const provider = read.data?.data.find(each => each.key === key)
  return (
    <Page
      title="New connection"
      narrow
      lead={
        <Anchor component={Link} href="/operator/connections" size="sm">
          All connections
        </Anchor>
      }
    >
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {!read.error && !read.data && <Skeleton h={120} />}
      {read.data && (
        <Card>
          <Stack gap="md">
            <Select
              label="Provider"
              description={
                provider?.channels.map(channelName).join(', ') ?? 'The service that delivers the messages'
              }
              placeholder="Choose one"
              data={read.data.data.map(each => each.key)}
              searchable
              allowDeselect={false}
              value={key}
              onChange={setKey}
            />
            {provider && (
              <ConnectionForm
                key={provider.key}
                provider={provider}
                connection={null}
                onDone={({ id, name }) => {
                  notifyDone(`${name} is created. Test it before you send messages over it.`)
                  go(`/operator/connections/${id}`)
                }}
              />
            )}
          </Stack>
        </Card>
      )}
    </Page>
  )
}
