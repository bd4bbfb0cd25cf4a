import { Alert } from '@mantine/core'
import { FlaskConical } from 'lucide-react'
import { useRead } from '../../api/use-read.ts'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { useSession } from '../../session/context.tsx'
import { carriersOf, isSandbox } from './carriers.ts'

const either = new Intl.ListFormat(undefined, { type: 'disjunction' })

/** A warning that live messages go to the sandbox. */
export function SandboxWarning() {
  const { mode, can } = useSession()
  const policies = useRead('/api/v2/messages/policies', undefined, { enabled: can('messages:create') })
  const all = policies.data?.data ?? []
  const simulated = CHANNELS.filter(channel => carriersOf(channel, mode, all).some(isSandbox))
  if (mode !== 'live' || simulated.length === 0) return null
  return (
    <Alert
      color="brass"
      variant="light"
      icon={<FlaskConical size={16} />}
      title="Some channels only use the sandbox"
    >
      There is no connection for {either.format(simulated.map(channelName))}: live messages over these
      channels go to the sandbox and are not delivered.
    </Alert>
  )
}
