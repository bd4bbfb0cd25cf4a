import { lazy } from 'react'
import { useSession } from '../../session/context.tsx'
import { JobList } from './job-list.tsx'

const Wizard = lazy(() => import('./wizard.tsx'))
const JobPage = lazy(() => import('./job-page.tsx'))

/** The jobs; `/bulk/new` makes one from a file, every other name is a job. */
export default function Bulk({ jobId }: { jobId?: string }) {
  const { can } = useSession()
  if (jobId === undefined || (jobId === 'new' && !can('messages:create'))) return <JobList />
  return jobId === 'new' ? <Wizard /> : <JobPage key={jobId} jobId={jobId} />
}
