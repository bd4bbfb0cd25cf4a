import { lazy } from 'react'
import { useSession } from '../../session/context.tsx'
import { JobList } from './job-list.tsx'

const Wizard = lazy(() => import('./wizard.tsx'))
const JobPage = lazy(() => import('./job-page.tsx'))

/** The list of jobs; `/bulk/new` is the wizard, and any other id is a job. */
export default function Bulk({ jobId }: { jobId?: string }) {
  const { can } = useSession()
  if (jobId === undefined || (jobId === 'new' && !can('messages:create'))) return <JobList />
  return jobId === 'new' ? <Wizard /> : <JobPage key={jobId} jobId={jobId} />
}
