import { Button, Group, PinInput, Stack, Text } from '@mantine/core'
import { CircleCheck } from 'lucide-react'
import { useEffect, useState } from 'react'
import { PosthornError, type VerificationAttempt, type Verified } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { faultOf } from '../../api/fault.ts'
import { nowMs } from '../../api/server-clock.ts'
import { useInvalidate, useRead } from '../../api/use-read.ts'
import { Time } from '../../parts/time.tsx'

type Props = { attempt: VerificationAttempt; onResent: (attempt: VerificationAttempt) => void }

/** The input for the code, with the length of the account's settings. */
export function CodeEntry({ attempt, onResent }: Props) {
  const api = useApi()
  const invalidate = useInvalidate()
  const account = useRead('/api/v2/account')
  const [code, setCode] = useState('')
  const [busy, setBusy] = useState(false)
  /** Counts wrong codes: after each one the input starts anew. */
  const [wrongCodes, setWrongCodes] = useState(0)
  const [fault, setFault] = useState<string | null>(null)
  const [verified, setVerified] = useState<Verified | null>(null)
  const { verificationId } = attempt

  async function runRequest(run: () => Promise<void>): Promise<void> {
    setBusy(true)
    setFault(null)
    try {
      await run()
      invalidate(['/api/v2/verification', '/api/v2/sandbox/messages'])
    } catch (error) {
      setFault(errorText(error))
      setCode('')
      setWrongCodes(known => known + 1)
    } finally {
      setBusy(false)
    }
  }

  const check = (given: string) =>
    runRequest(async () =>
      setVerified(await api.post('/api/v2/verification/verify', { body: { verificationId, code: given } })),
    )
  const resend = () =>
    runRequest(async () =>
      onResent(await api.post('/api/v2/verification/resend', { body: { verificationId } })),
    )

  if (verified) {
    return (
      <Text
        fw={600}
        c="var(--ph-good)"
        style={{ display: 'flex', alignItems: 'center', gap: 8 }}
        role="status"
      >
        <CircleCheck size={17} aria-hidden /> Verified
      </Text>
    )
  }
  return (
    <Stack gap="sm">
      <Text size="sm">The code that was sent:</Text>
      <PinInput
        key={wrongCodes}
        autoFocus={wrongCodes > 0}
        length={account.data?.data.verification.codeLength ?? 6}
        type="number"
        oneTimeCode
        aria-label="The code"
        getInputProps={at => ({ 'aria-label': `Digit ${at + 1}` })}
        value={code}
        onChange={setCode}
        onComplete={check}
        error={fault !== null}
        disabled={busy}
      />
      {fault !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {fault}
        </Text>
      )}
      <Group gap="md">
        <ResendButton
          key={attempt.resendAvailableAt}
          availableAt={attempt.resendAvailableAt}
          onResend={resend}
          busy={busy}
        />
        <Text size="xs" c="dimmed">
          Valid until <Time at={attempt.expiresAt} exact />
          {attempt.resendCount > 0 && ` · sent ${attempt.resendCount + 1} times`}
        </Text>
      </Group>
    </Stack>
  )
}

const EVERY_MS = 1_000

function ResendButton({
  availableAt,
  onResend,
  busy,
}: {
  availableAt: string
  onResend: () => void
  busy: boolean
}) {
  const [leftMs, setLeftMs] = useState(() => Date.parse(availableAt) - nowMs())
  useEffect(() => {
    const timer = setInterval(() => setLeftMs(Date.parse(availableAt) - nowMs()), EVERY_MS)
    return () => clearInterval(timer)
  }, [availableAt])
  const seconds = Math.ceil(leftMs / 1_000)
  return (
    <Button variant="default" size="xs" disabled={seconds > 0 || busy} onClick={onResend}>
      {seconds > 0 ? `Send again in ${seconds} s` : 'Send again'}
    </Button>
  )
}

function errorText(error: unknown): string {
  if (error instanceof PosthornError && error.attemptsRemaining !== null) {
    const left = error.attemptsRemaining
    return `${error.message} ${left === 0 ? 'No attempt is left.' : `${left} ${left === 1 ? 'attempt is' : 'attempts are'} left.`}`
  }
  return faultOf(error).text
}
