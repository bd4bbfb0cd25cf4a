import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { ShieldAlert } from 'lucide-react'
import { Snippet } from '../../../parts/code.tsx'
import type { Made } from './create-account.tsx'

/** Shows the first keys of a new account, which cannot be read again. */
export function KeysShown({ made, onClose }: { made: Made | null; onClose: () => void }) {
  return (
    <Modal
      opened={made !== null}
      onClose={onClose}
      title="Its first keys"
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {made?.liveKey === null && (
        <Stack>
          <Text>
            The account was made at the first try, whose answer was lost, and its keys with it. Revoke them on
            the account’s page, and make others.
          </Text>
          <Group justify="flex-end">
            <Button onClick={onClose}>To the account</Button>
          </Group>
        </Stack>
      )}
      {made?.liveKey && made.testKey && (
        <Stack>
          <div>
            <Text size="sm" fw={600} mb={4}>
              Test: sends to the sandbox alone
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
            This is the only time that they are shown: we keep nothing but their hashes. Its owner can make
            others.
          </Alert>
          <Group justify="flex-end">
            <Button onClick={onClose}>I have them</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}
