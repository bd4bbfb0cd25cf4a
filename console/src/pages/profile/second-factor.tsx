import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { TotpStart } from '../../../../sdk/index.ts'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useShowOnce } from '../../parts/use-show-once.tsx'
import { useSession } from '../../session/context.tsx'
import { ConfirmCode } from './confirm-code.tsx'
import { EndFactor, StartFactor } from './factor-password.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'

type Step =
  | { at: 'password' }
  | { at: 'scan'; start: TotpStart }
  | { at: 'codes'; codes: readonly string[] }
  | { at: 'end' }
  | null

const TITLES = {
  password: 'Turn on the second factor',
  scan: 'Scan the code',
  codes: 'Your recovery codes',
  end: 'Turn off the second factor?',
}

/** Turns the second factor (codes of an authenticator app) on and off. */
export function SecondFactor() {
  const { session } = useSession()
  const { totp, recoveryCodesLeft } = session.user
  const [step, setStep] = useState<Step>(null)
  const close = () => setStep(null)
  const showOnce = useShowOnce()
  return (
    <Stack gap="sm">
      <StatusBadge status={totp ? 'active' : 'off'} label={totp ? 'On' : 'Off'} />
      <Text c="dimmed">
        {totp
          ? `Signing in requires a code from your authenticator app. ${recoveryCodesLeft} recovery codes are left.`
          : 'With it, signing in also requires a code from your authenticator app: a stolen password is not enough.'}
      </Text>
      <Group>
        <Button
          variant={totp ? 'default' : 'filled'}
          onClick={() => setStep({ at: totp ? 'end' : 'password' })}
        >
          {totp ? 'Turn it off' : 'Turn it on'}
        </Button>
      </Group>
      <Modal
        opened={step !== null}
        onClose={close}
        title={step && TITLES[step.at]}
        closeOnClickOutside={step?.at !== 'codes'}
        closeOnEscape={step?.at !== 'codes'}
      >
        {step?.at === 'password' && <StartFactor onStart={start => setStep({ at: 'scan', start })} />}
        {step?.at === 'scan' && (
          <ConfirmCode
            start={step.start}
            onDone={codes =>
              showOnce('Your recovery codes', codes.join('\n'), () => setStep({ at: 'codes', codes }))
            }
          />
        )}
        {step?.at === 'codes' && <RecoveryCodes codes={step.codes} onClose={close} />}
        {step?.at === 'end' && <EndFactor onDone={close} />}
      </Modal>
    </Stack>
  )
}
