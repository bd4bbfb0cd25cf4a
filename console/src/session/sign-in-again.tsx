import { Button, Modal, Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import type { Again } from './again.ts'
import { LoginForm } from './login.tsx'
import type { Session } from './session.ts'

/** Dialogs and what drops down from their fields are at 200 and 300. */
const ABOVE_ALL = 350

type Props = {
  again: Again
  email: string
  onSession: (session: Session) => void
  onLeave: () => void
}

/** Over whatever somebody was doing: it stays as it is, and goes on. */
export function SignInAgain({ again, email, onSession, onLeave }: Props) {
  const asked = useSyncExternalStore(again.subscribe, again.isAsked)
  function leave(): void {
    again.answer(false)
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
        Sign in to go on. What you have typed is still there.
      </Text>
      <LoginForm email={email} onSession={onSession} />
      <Button variant="subtle" color="gray" fullWidth mt="xs" onClick={leave}>
        Leave
      </Button>
    </Modal>
  )
}
