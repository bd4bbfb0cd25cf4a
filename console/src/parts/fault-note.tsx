import { Alert, Button, Group, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { readFaultOf } from '../api/fault.ts'
import { CopyButton } from './copy-button.tsx'
import { useKeptFocus } from './use-kept-focus.ts'

/** Shown in place of data that could not be read, with a retry button. */
export function ReadFault({ error, retry }: { error: unknown; retry: () => unknown }) {
  const { title, text, requestId, canRetry } = readFaultOf(error)
  const [busy, setBusy] = useState(false)
  const keepFocus = useKeptFocus(busy)

  async function tryAgain(): Promise<void> {
    keepFocus()
    setBusy(true)
    await retry()
    setBusy(false)
  }

  return (
    <Alert color="red" variant="light" icon={<TriangleAlert size={16} />} title={title} role="alert">
      <Text>{text}</Text>
      <Group mt="sm" gap="xs">
        {canRetry && (
          <Button size="xs" variant="default" loading={busy} onClick={tryAgain}>
            Try again
          </Button>
        )}
        {requestId !== null && <CopyButton text={requestId} label="Request id" small />}
      </Group>
    </Alert>
  )
}
