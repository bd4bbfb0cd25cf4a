import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { MailCheck, MailX } from 'lucide-react'
import { Snippet } from '../../parts/code.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'

export type CreatedLink = { link: string; mail: string; email: string }

/** The link of an invitation or of a password reset, which is shown only once. */
export function LinkDialog({
  made,
  onClose,
  title = 'Invitation link',
  note = 'Whoever has the link can use it: give it only to this person. It works once, within seven days, and is not shown again; a new invitation has a new link.',
}: {
  made: CreatedLink | null
  onClose: () => void
  title?: string
  note?: string
}) {
  return (
    <Modal
      opened={made !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      {made && (
        <Stack>
          <MailNote mail={made.mail} email={made.email} />
          <Snippet code={made.link} label="The link" />
          <Text size="sm" c="dimmed">
            {note}
          </Text>
          <Group justify="flex-end">
            <CopyButton text={made.link} label="Copy the link" />
            <Button onClick={onClose}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  )
}

function MailNote({ mail, email }: { mail: string; email: string }) {
  if (mail === 'sent' || mail === 'queued') {
    return (
      <Alert color="verdigris" variant="light" icon={<MailCheck size={16} />}>
        The link is on its way to <bdi>{email}</bdi>.
      </Alert>
    )
  }
  return (
    <Alert color="brass" variant="light" icon={<MailX size={16} />}>
      {WHY[mail] ?? WHY['failed']} Give the link to <bdi>{email}</bdi> yourself.
    </Alert>
  )
}

const WHY: Readonly<Record<string, string>> = {
  failed: 'The e-mail could not be sent.',
  no_connection: 'No e-mail connection is set up yet.',
  not_asked: 'No e-mail was sent.',
}
