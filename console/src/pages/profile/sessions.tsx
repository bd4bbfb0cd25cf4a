import { Button, Skeleton, Text } from '@mantine/core'
import { useRef } from 'react'
import { useAction, useRead } from '../../api/use-read.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Time } from '../../parts/time.tsx'
import { notifyFault } from '../../parts/toast.tsx'
import { useKeptFocus } from '../../parts/use-kept-focus.ts'
import { deviceOf } from './device.ts'
import classes from './sessions.module.css'

const PATH = '/api/console/sessions'

/** The person's sessions; each can be ended. */
export function Sessions() {
  const sessions = useRead(PATH)
  const list = useRef<HTMLUListElement>(null)
  const end = useAction((api, id: string) => api.delete('/api/console/sessions/{id}', { path: { id } }), {
    changes: [PATH],
    // The button goes with its row.
    onDone: () => list.current?.focus(),
  })
  const keepFocus = useKeptFocus(end.isPending)
  if (sessions.error) return <ReadFault error={sessions.error} retry={sessions.refetch} />
  if (!sessions.data) return <Skeleton h={80} m="md" w="auto" />
  return (
    <ul ref={list} tabIndex={-1} aria-label="Where you are signed in" className={classes.list}>
      {sessions.data.data.map(session => (
        <li key={session.id} className={classes.row}>
          <div>
            <Text fw={500}>{deviceOf(session.userAgent)}</Text>
            <Text size="sm" c="dimmed">
              {session.ip ?? 'unknown IP address'} ·{' '}
              {session.current ? 'this session' : <Time at={session.lastSeenAt} />}
            </Text>
          </div>
          {!session.current && (
            <Button
              size="xs"
              variant="default"
              flex="none"
              loading={end.isPending && end.variables === session.id}
              onClick={() => {
                keepFocus()
                end.mutate(session.id, { onError: notifyFault })
              }}
            >
              Sign out there
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
