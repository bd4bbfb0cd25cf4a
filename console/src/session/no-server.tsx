import { Button } from '@mantine/core'
import { readFaultOf } from '../api/fault.ts'
import { FaultNote } from '../parts/api-form.tsx'
import { Door } from './door.tsx'

const ASK_EVERY_MS = 2_000

/** A refetch interval for requests before the sign-in, where nothing else polls the server. */
export function whileItFails({ state }: { state: { error: unknown } }): number | false {
  return state.error === null ? false : ASK_EVERY_MS
}

/** Shown before the sign-in if the server is unreachable. */
export function NoServer({ error, retry }: { error: unknown; retry: () => unknown }) {
  return (
    <Door title="Posthorn">
      <FaultNote fault={readFaultOf(error)} />
      <Button mt="md" fullWidth onClick={() => retry()}>
        Try again
      </Button>
    </Door>
  )
}
