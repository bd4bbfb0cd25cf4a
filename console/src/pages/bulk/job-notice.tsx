import { Alert, Anchor } from '@mantine/core'
import { CircleAlert, CircleHelp, CirclePause } from 'lucide-react'
import { Link } from 'wouter'
import type { BulkError, BulkJob, PauseReason } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'

const POLL_EVERY_MS = 10_000

const PAUSES: Record<PauseReason, string> = {
  user: 'Somebody paused the job. Messages already on their way went out; the others wait for “Resume”.',
  insufficient_balance:
    'The balance does not cover the next row. The job continues automatically soon after a credit.',
  provider_rate_limit: 'The provider limits the rate. The job continues automatically when the wait is over.',
}

const REFUSALS: Record<BulkError, string> = {
  VALIDATION_FAILED:
    'Nothing was sent: the rows below are invalid. Correct them in the file and run it again.',
  INSUFFICIENT_BALANCE: 'Nothing was sent: the balance does not cover a single row.',
  INTAKE_INCOMPLETE: 'Nothing was sent: the upload was incomplete. Run it again.',
}

/** Why a job does not move, and what to do. */
export function JobNotice({ job: { id, status, pauseReason, errorCode } }: { job: BulkJob }) {
  if (status === 'running') return <UnknownRows jobId={id} />
  if (status === 'paused' && pauseReason !== null) {
    return (
      <Alert variant="light" color="brass" icon={<CirclePause size={16} />} title="Paused">
        {PAUSES[pauseReason]}
        {pauseReason === 'insufficient_balance' && <WalletLink />}
      </Alert>
    )
  }
  if (status === 'rejected' && errorCode !== null) {
    return (
      <Alert variant="light" color="red" icon={<CircleAlert size={16} />} title="Rejected" role="alert">
        {REFUSALS[errorCode]}
        {errorCode === 'INSUFFICIENT_BALANCE' && <WalletLink />}
      </Alert>
    )
  }
  return null
}

/** A job with such rows runs on, although it sends nothing any more. */
function UnknownRows({ jobId }: { jobId: string }) {
  const query = { bulkJobId: jobId, status: 'unknown', limit: 1 } as const
  const unknown = useRead('/api/v2/messages', { query }, { everyMs: POLL_EVERY_MS })
  if (!unknown.data || unknown.data.data.length === 0) return null
  return (
    <Alert variant="light" color="gray" icon={<CircleHelp size={16} />} title="Rows with an unknown outcome">
      The provider may have accepted them, but did not answer. They stay pending until it does, or until they
      count as sent; the job is completed then.
      <NoticeLink href={`/messages?bulkJobId=${jobId}&status=unknown`}>Show them</NoticeLink>
    </Alert>
  )
}

function WalletLink() {
  return <NoticeLink href="/wallet">Open the wallet</NoticeLink>
}

function NoticeLink({ href, children }: { href: string; children: string }) {
  return (
    <>
      {' '}
      <Anchor component={Link} href={href} size="sm" c="inherit" underline="always">
        {children}
      </Anchor>
    </>
  )
}
