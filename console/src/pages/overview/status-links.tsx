import { Anchor } from '@mantine/core'
import { Fragment } from 'react'
import { Link } from 'wouter'
import type { Message } from '../../../../sdk/index.ts'
import { useSession } from '../../session/context.tsx'

/**
 * Links from a figure's statuses to the lists of messages that have them now. The figure itself has no link:
 * it counts events within its period, while a list has messages that were created within it.
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
