import { lazy } from 'react'
import { ConnectionList } from './connection-list.tsx'

const ConnectionPage = lazy(() => import('./connection-page.tsx'))
const NewConnection = lazy(() => import('./new-connection.tsx'))

export default function Connections({ connectionId }: { connectionId?: string }) {
  if (connectionId === undefined) return <ConnectionList />
  if (connectionId === 'new') return <NewConnection />
  return <ConnectionPage key={connectionId} connectionId={connectionId} />
}
