import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { useSession } from '../session/context.tsx'

/** The id of a message, as a link for those who may read messages. */
export function MessageLink({ id }: { id: string }) {
  const { can } = useSession()
  if (!can('messages:read')) return <span className="ph-mono">{id}</span>
  return (
    <Anchor component={Link} href={`/messages/${id}`} className="ph-mono">
      {id}
    </Anchor>
  )
}
