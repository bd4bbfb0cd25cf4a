import { Button } from '@mantine/core'
import { readFaultOf } from '../api/fault.ts'
import { FaultNote } from '../parts/api-form.tsx'
import { EntryPage } from './entry-page.tsx'

const POLL_EVERY_MS = 2_000

/** A refetch interval for requests before the sign-in, where nothing else polls the server. */
export function pollWhileFailing({ state }: { state: { error: unknown } }): number | false {
  return state.error === null ? false : POLL_EVERY_MS
}

/** Shown before the sign-in if the server is unreachable. */
export function ServerUnreachable({ error, retry }: { error: unknown; retry: () => unknown }) {
  return (
    <EntryPage title="Posthorn">
      <FaultNote fault={readFaultOf(error)} />
      <Button mt="md" fullWidth onClick={() => retry()}>
        Try again
      </Button>
    </EntryPage>
  )
}
