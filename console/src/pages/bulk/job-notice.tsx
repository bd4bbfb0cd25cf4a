import { Alert, Anchor } from '@mantine/core'
import { CircleAlert, CirclePause } from 'lucide-react'
import { Link } from 'wouter'
import type { BulkError, BulkJob, PauseReason } from '../../../../sdk/index.ts'

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
export function JobNotice({ job: { status, pauseReason, errorCode } }: { job: BulkJob }) {
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

function WalletLink() {
  return (
    <>
      {' '}
      <Anchor component={Link} href="/wallet" size="sm" c="inherit" underline="always">
        Open the wallet
      </Anchor>
    </>
  )
}
