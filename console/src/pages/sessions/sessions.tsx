import { lazy } from 'react'
import { SessionList } from './session-list.tsx'

const SessionPage = lazy(() => import('./session-page.tsx'))

/** The list of web sessions, or one of them with its pairing. */
export default function Sessions({ name }: { name?: string }) {
  return name === undefined ? <SessionList /> : <SessionPage key={name} name={name} />
}
