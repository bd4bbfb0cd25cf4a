import { Button, Modal, Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { LoginForm } from './login.tsx'
import type { Session } from './session.ts'
import type { SignInPrompt } from './sign-in-prompt.ts'

/** z-index above dialogs (200) and their dropdowns (300). */
const ABOVE_ALL = 350

type Props = {
  again: SignInPrompt
  email: string
  onSession: (session: Session) => void
  onLeave: () => void
}

/** A dialog above the current page, which keeps its state. */
export function SignInAgain({ again, email, onSession, onLeave }: Props) {
  const asked = useSyncExternalStore(again.subscribe, again.isOpen)
  function leave(): void {
    again.close(false)
    onLeave()
  }
  return (
    <Modal
      opened={asked}
      onClose={() => {}}
      withCloseButton={false}
      title="Your session has ended"
      size="sm"
      zIndex={ABOVE_ALL}
    >
      <Text c="dimmed" mb="md">
        Sign in to continue. What you typed is kept.
      </Text>
      <LoginForm email={email} onSession={onSession} />
      <Button variant="subtle" color="gray" fullWidth mt="xs" onClick={leave}>
        {' '}
        Sign out{' '}
      </Button>
    </Modal>
  )
}
