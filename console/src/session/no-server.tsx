import { Button } from '@mantine/core'
import { readFaultOf } from '../api/fault.ts'
import { FaultNote } from '../parts/api-form.tsx'
import { Door } from './door.tsx'

const ASK_EVERY_MS = 2_000

/** For what is asked at the door, where nothing else asks whether the server is back. */
export function whileItFails({ state }: { state: { error: unknown } }): number | false {
  return state.error === null ? false : ASK_EVERY_MS
}

/** In the place of a door, while nobody answers. */
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
