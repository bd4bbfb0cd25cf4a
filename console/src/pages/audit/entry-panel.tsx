import { Button, Stack } from '@mantine/core'
import type { AuditEntry } from '../../../../sdk/index.ts'
import { Snippet } from '../../parts/code.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { formatTime } from '../../parts/time.tsx'
import { actionInWords } from './actions.ts'

const KINDS: Readonly<Record<AuditEntry['actor']['type'], string>> = {
  user: 'In the console',
  api_key: 'A program, by a key',
  operator_token: 'The operator',
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
      title={entry ? actionInWords(entry.action) : ''}
      foot={
        actorId !== null && (
          <Button variant="default" onClick={() => onActor(actorId)}>
            All that they did
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
              entry.target === null ? null : ['To', <CopyId key="t" id={entry.target} />],
              ['When', formatTime(entry.at)],
              [
                'From',
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
              ['Request', <CopyId key="r" id={entry.requestId} what="the request id" />],
            ]}
          />
          {Object.keys(entry.changes).length > 0 && (
            <Snippet code={JSON.stringify(entry.changes, null, 2)} label="What was asked for" />
          )}
        </Stack>
      )}
    </SidePanel>
  )
}
