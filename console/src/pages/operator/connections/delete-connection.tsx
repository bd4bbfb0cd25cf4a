import { Button, Group } from '@mantine/core'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ConnectionView } from '../../../../../sdk/index.ts'
import { useAction } from '../../../api/use-read.ts'
import { ConfirmDialog } from '../../../parts/confirm.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { CONNECTIONS } from './paths.ts'

export function DeleteConnection({
  connection,
  onDeleted,
}: {
  connection: ConnectionView
  onDeleted: () => void
}) {
  const [asked, setAsked] = useState(false)
  const { id, name } = connection
  const remove = useAction(api => api.delete('/api/admin/connections/{id}', { path: { id } }), {
    changes: [CONNECTIONS],
    onDone() {
      notifyDone('The connection is deleted.')
      onDeleted()
    },
  })
  return (
    <Group>
      <Button variant="subtle" color="red" leftSection={<Trash2 size={15} />} onClick={() => setAsked(true)}>
        Delete the connection
      </Button>
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title="Delete this connection?"
        text="Its settings and secrets are deleted, too. To stop using it for a while, disable it instead."
        confirmLabel="Delete the connection"
        confirmText={name}
        run={() => remove.mutateAsync(undefined)}
      />
    </Group>
  )
}
