import { Alert, Anchor, Button, Skeleton, Stack } from '@mantine/core'
import { CircleCheck, PlugZap, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { ConnectionView } from '../../../../../sdk/index.ts'
import { useAction, useRead } from '../../../api/use-read.ts'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { ReadFault } from '../../../parts/fault-note.tsx'
import { Card, Page } from '../../../parts/page.tsx'
import { notifyDone, notifyFault } from '../../../parts/toast.tsx'
import { useGo } from '../../../parts/use-go.ts'
import { ConnectionFacts } from './connection-facts.tsx'
import { ConnectionForm } from './connection-form.tsx'
import { DeleteConnection } from './delete-connection.tsx'
import { LinkState } from './link-state.tsx'
import { CONNECTIONS, MAX_CONNECTIONS, POLL_EVERY_MS } from './paths.ts'

/** One connection: its status, a test, and its settings. */
export default function ConnectionPage({ connectionId }: { connectionId: string }) {
  const read = useRead(CONNECTIONS, { query: { limit: MAX_CONNECTIONS } }, { everyMs: POLL_EVERY_MS })
  const connection = read.data?.data.find(({ id }) => id === connectionId)
  const back = (
    <Anchor component={Link} href="/operator/connections" size="sm">
      All connections
    </Anchor>
  )
  if (connection) return <ConnectionDetails connection={connection} back={back} />
  return (
    <Page title="Connection" lead={back}>
      {read.error && <ReadFault error={read.error} retry={read.refetch} />}
      {read.isPending && <Skeleton h={420} />}
      {read.data && (
        <EmptyNote icon={PlugZap} title="Connection not found" text="It may have been deleted." />
      )}
    </Page>
  )
}

function ConnectionDetails({ connection, back }: { connection: ConnectionView; back: ReactNode }) {
  const go = useGo()
  const path = { id: connection.id }
  const providers = useRead('/api/admin/providers')
  const provider = providers.data?.data.find(({ key }) => key === connection.provider)
  const test = useAction(api => api.post('/api/admin/connections/{id}/test', { path }), {
    changes: [CONNECTIONS],
  })
  const enable = useAction(
    (api, enabled: boolean) => api.patch('/api/admin/connections/{id}', { path, body: { enabled } }),
    {
      changes: [CONNECTIONS],
      onDone: ({ data }) =>
        notifyDone(
          data.enabled
            ? 'The connection is enabled: it sends messages again.'
            : 'The connection is disabled: it sends no more messages.',
        ),
    },
  )
  return (
    <Page
      title={connection.name}
      lead={back}
      actions={
        <>
          <LinkState connection={connection} />
          <Button
            variant="default"
            loading={enable.isPending}
            onClick={() => enable.mutate(!connection.enabled, { onError: notifyFault })}
          >
            {connection.enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button
            leftSection={<PlugZap size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate(undefined, { onError: notifyFault })}
          >
            Test it
          </Button>
        </>
      }
    >
      <Stack gap="lg" maw={860}>
        {test.data && <TestResult {...test.data.data} />}
        <ConnectionFacts connection={connection} />
        <Card title="Settings">
          {providers.error && <ReadFault error={providers.error} retry={providers.refetch} />}
          {providers.isPending && <Skeleton h={300} />}
          {provider && (
            <ConnectionForm
              provider={provider}
              connection={connection}
              onDone={({ name }) => {
                notifyDone(`${name} is saved; its links reconnect.`)
                // The test was of the earlier configuration.
                test.reset()
              }}
            />
          )}
        </Card>
        <DeleteConnection connection={connection} onDeleted={() => go('/operator/connections')} />
      </Stack>
    </Page>
  )
}

function TestResult({ ok, detail }: { ok: boolean; detail: string }) {
  return (
    <Alert
      role="status"
      color={ok ? 'verdigris' : 'red'}
      variant="light"
      icon={ok ? <CircleCheck size={16} /> : <TriangleAlert size={16} />}
      title={ok ? 'The connection works' : 'The connection does not work'}
    >
      <span className="ph-words">{detail}</span>
    </Alert>
  )
}
