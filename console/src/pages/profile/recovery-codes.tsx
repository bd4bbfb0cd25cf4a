import { Button, Group, Stack, Text } from '@mantine/core'
import { Snippet } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n')
  return (
    <Stack>
      <Text>
        Each code signs you in once if you do not have your authenticator app. Keep the codes in a different
        place: they are shown only this once.
      </Text>
      <Snippet code={text} label="Recovery codes" />
      <Group justify="flex-end">
        {/* The focus is not on the button that closes the dialog: pressing Enter again would close it unread. */}
        <CopyButton text={text} label="Copy" autoFocus />
        <Button onClick={onClose}>I have saved them</Button>
      </Group>
    </Stack>
  )
}
