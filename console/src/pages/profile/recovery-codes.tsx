import { Button, Group, Stack, Text } from '@mantine/core'
import { Snippet } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = codes.join('\n')
  return (
    <Stack>
      <Text>
        Each of them signs you in once when your authenticator is out of reach. Keep them where it is not:
        they are shown this once.
      </Text>
      <Snippet code={text} label="Recovery codes" />
      <Group justify="flex-end">
        {/* Not what closes it: whoever presses Enter once more would never see them. */}
        <CopyButton text={text} label="Copy" autoFocus />
        <Button onClick={onClose}>I have them</Button>
      </Group>
    </Stack>
  )
}
