import { Alert, Button, Group, Text } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { readFaultOf } from '../api/fault.ts'
import { CopyButton } from './copy-button.tsx'

/** Shown in place of data that could not be read, with a retry button. */
export function ReadFault({ error, retry }: { error: unknown; retry: () => unknown }) {
  const { title, text, requestId, canRetry } = readFaultOf(error)
  return (
    <Alert color="red" variant="light" icon={<TriangleAlert size={16} />} title={title} role="alert">
      <Text>{text}</Text>
      <Group mt="sm" gap="xs">
        {canRetry && (
          <Button size="xs" variant="default" onClick={() => retry()}>
            Try again
          </Button>
        )}
        {requestId !== null && <CopyButton text={requestId} label="Request id" small />}
      </Group>
    </Alert>
  )
}
