import { lazy } from 'react'
import { SessionList } from './session-list.tsx'

const SessionPage = lazy(() => import('./session-page.tsx'))

/** WhatsApp accounts that are linked by their phone; one of them with what links it. */
export default function Sessions({ name }: { name?: string }) {
  return name === undefined ? <SessionList /> : <SessionPage key={name} name={name} />
}
