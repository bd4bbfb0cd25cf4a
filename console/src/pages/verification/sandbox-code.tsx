import { Loader, Text } from '@mantine/core'
import { FlaskConical } from 'lucide-react'
import type { SandboxMessage, VerificationAttempt } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'

const POLL_EVERY_MS = 700
const CODE = /\b\d{4,8}\b/

/** The attempt's message in the sandbox. */
export function SandboxCode({ attempt }: { attempt: VerificationAttempt & { to: string } }) {
  const inbox = useRead(
    '/api/v2/sandbox/messages',
    { query: { to: attempt.to, limit: 1 } },
    { everyMs: POLL_EVERY_MS },
  )
  const message = inbox.data?.data[0]
  if (!message) {
    return (
      <Text c="dimmed" size="sm">
        <Loader size={12} aria-label="Waiting" /> Waiting for the code…
      </Text>
    )
  }
  return (
    <div role="status" className="ph-card" style={{ padding: '10px 14px', background: 'var(--ph-chosen)' }}>
      <Text size="xs" c="dimmed" style={{ display: 'flex', alignItems: 'center', gap: 6 }}>
        <FlaskConical size={13} aria-hidden /> In the sandbox
      </Text>
      <Text className="ph-words">{textOf(message)}</Text>
    </div>
  )
}

function textOf({ text, html, subject, template }: SandboxMessage): string {
  if (text !== null && text !== '') return text
  if (template !== null) return `Template ${template.name}: ${template.body.join(', ')}`
  return html?.match(CODE)?.[0] ?? subject ?? ''
}
