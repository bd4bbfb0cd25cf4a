import { Anchor } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'wouter'
import type { Message } from '../../../../sdk/index.ts'
import { useSession } from '../../session/context.tsx'

/**
 * What a figure counts, each word with the list of what is so now. The figure itself leads nowhere: it counts
 * what happened within its period, a list has what was made within it.
 */
export function StatusLinks({ of, period }: { of: readonly Message['status'][]; period?: string }) {
  const { can } = useSession()
  if (!can('messages:read')) return of.join(', ')
  return of.map((status, at) => (
    <Fragment key={status}>
      {at > 0 && ', '}
      <Anchor
        component={Link}
        href={`/messages?${new URLSearchParams({ status, ...(period && { period }) })}`}
        inherit
        underline="always"
      >
        {status}
      </Anchor>
    </Fragment>
  ))
}
