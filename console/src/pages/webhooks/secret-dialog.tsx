import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { Snippet } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

/** Shows the secret of an endpoint, which cannot be read again. */
export function SecretDialog({ secret, onClose }: { secret: string | null; onClose: () => void }) {
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title="The endpoint’s secret"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {secret !== null && (
        <Stack>
          <Snippet code={secret} label="The secret" />
          <Alert color="brass" variant="light" icon={<ShieldAlert size={16} />}>
            The secret is shown only this once. Store it with your receiver, which uses it to verify that a
            call comes from this server.
          </Alert>
          <Group justify="flex-end">
            <CopyButton text={secret} label="Copy" />
            <Button onClick={onClose}>I have saved it</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
