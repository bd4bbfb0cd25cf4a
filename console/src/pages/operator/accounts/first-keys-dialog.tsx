import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { Snippet } from '../../../parts/code.tsx'
import type { CreatedAccount } from './create-account.tsx'

/** Shows the first keys of a new account, which cannot be read again. */
export function FirstKeysDialog({ made, onClose }: { made: CreatedAccount | null; onClose: () => void }) {
  return (
    <Modal
      opened={made !== null}
      onClose={onClose}
      title="First keys of the account"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {made?.liveKey === null && (
        <Stack>
          <Text>
            An earlier attempt created the account, but its response with the keys was lost. Revoke these keys
            on the account’s page, and create others.
          </Text>
          <Group justify="flex-end">
            <Button onClick={onClose}>Open the account</Button>
          </Group>
        </Stack>
      )}
      {made?.liveKey && made.testKey && (
        <Stack>
          <div>
            <Text size="sm" fw={600} mb={4}>
              Test: sends only to the sandbox
            </Text>
            <Snippet code={made.testKey} label="The test key" />
          </div>
          <div>
            <Text size="sm" fw={600} mb={4}>
              Live
            </Text>
            <Snippet code={made.liveKey} label="The live key" />
          </div>
          <Alert color="brass" variant="light" icon={<ShieldAlert size={16} />}>
            The keys are shown only this once: only their hashes are stored. An owner of the account can
            create others.
          </Alert>
          <Group justify="flex-end">
            <Button onClick={onClose}>I have saved them</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
