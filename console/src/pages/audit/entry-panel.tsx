import { Button, Stack } from '@mantine/core'
import type { AuditEntry } from '../../../../sdk/index.ts'
import { Snippet } from '../../parts/code.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { formatTime } from '../../parts/time.tsx'
import { actionLabel } from './actions.ts'

const KINDS: Readonly<Record<AuditEntry['actor']['type'], string>> = {
  user: 'In the console',
  api_key: 'API key',
  operator_token: 'Operator token',
}

export function EntryPanel({
  entry,
  onClose,
  onActor,
}: {
  entry: AuditEntry | null
  onClose: () => void
  onActor: (actorId: string) => void
}) {
  const actorId = entry?.actor.id ?? null
  return (
    <SidePanel
      opened={entry !== null}
      onClose={onClose}
      title={entry ? actionLabel(entry.action) : ''}
      foot={
        actorId !== null && (
          <Button variant="default" onClick={() => onActor(actorId)}>
            Show all their actions
          </Button>
        )
      }
    >
      {entry && (
        <Stack gap="lg">
          <Facts
            facts={[
              ['Who', <bdi key="w">{entry.actor.name}</bdi>],
              ['How', KINDS[entry.actor.type]],
              entry.target === null ? null : ['Target', <CopyId key="t" id={entry.target} />],
              ['When', formatTime(entry.at)],
              [
                'IP address',
                <span key="i" className="ph-mono">
                  {entry.ip ?? '–'}
                </span>,
              ],
              [
                'Action',
                <span key="a" className="ph-mono">
                  {entry.action}
                </span>,
              ],
              ['Request id', <CopyId key="r" id={entry.requestId} what="the request id" />],
            ]}
          />
          {Object.keys(entry.changes).length > 0 && (
            <Snippet code={JSON.stringify(entry.changes, null, 2)} label="Requested changes" />
          )}
        </Stack>
      )}
    </SidePanel>
  )
}
