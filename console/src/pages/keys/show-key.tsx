import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { Snippet } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

/** Shows the key itself, which cannot be read again. */
export function ShowKey({ apiKey, onClose }: { apiKey: string | null; onClose: () => void }) {
  return (
    <Modal
      opened={apiKey !== null}
      onClose={onClose}
      title="Your new key"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {apiKey !== null && (
        <Stack>
          <Snippet code={apiKey} label="The new key" />
          <Alert color="brass" variant="light" icon={<ShieldAlert size={16} />}>
            The key is shown only this once: only its hash is stored. Save it where your program keeps its
            secrets.
          </Alert>
          <Group justify="flex-end">
            <CopyButton text={apiKey} label="Copy" />
            <Button onClick={onClose}>I have saved it</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
