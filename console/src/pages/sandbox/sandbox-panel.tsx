import { Button, Stack, Tabs, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { SandboxMessage } from '../../../../sdk/index.ts'
import { channelName } from '../../parts/channel-name.ts'
import { Snippet } from '../../parts/code.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts, SidePanel } from '../../parts/side-panel.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/context.tsx'

export function SandboxPanel({ message, onClose }: { message: SandboxMessage | null; onClose: () => void }) {
  const { can } = useSession()
  return (
    <SidePanel
      opened={message !== null}
      onClose={onClose}
      title={message && <bdi>{message.to}</bdi>}
      foot={
        message &&
        can('messages:read') && (
          <Button component={Link} href={`/messages/${message.messageId}`} variant="default">
            Show the timeline
          </Button>
        )
      }
    >
      {message && (
        <Stack gap="lg">
          <Facts
            facts={[
              ['Channel', channelName(message.channel)],
              ['From', message.sender ?? '–'],
              ['Received', <Time key="came" at={message.receivedAt} />],
              ['Attempts', message.attempts],
              ['Message', <CopyId key="id" id={message.messageId} />],
              message.template && ['Template', `${message.template.name} (${message.template.language})`],
            ]}
          />
          {message.subject !== null && (
            <Text fw={600} size="lg" className="ph-words">
              {message.subject}
            </Text>
          )}
          <MessageContent message={message} />
          {message.media?.map(file => (
            <Text key={file.sha256} size="sm">
              {file.fileName}{' '}
              <Text span c="dimmed">
                {file.mimetype}, {file.sizeBytes.toLocaleString()} bytes
              </Text>
            </Text>
          ))}
        </Stack>
      )}
    </SidePanel>
  )
}

function MessageContent({ message: { text, html, template } }: { message: SandboxMessage }) {
  if (html !== null) return <Html html={html} />
  if (text !== null && text !== '')
    return (
      <Text className="ph-words" component="div">
        {text}
      </Text>
    )
  if (template === null) return null
  return <Snippet code={JSON.stringify(template, null, 2)} label="Template values" />
}

/** Shown in a frame that may neither run scripts nor load anything: the HTML is untrusted. */
function Html({ html }: { html: string }) {
  return (
    <Tabs defaultValue="seen">
      <Tabs.List mb="sm">
        <Tabs.Tab value="seen">Preview</Tabs.Tab>
        <Tabs.Tab value="source">Source</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="seen">
        <iframe
          title="The e-mail"
          sandbox=""
          srcDoc={html}
          style={{
            width: '100%',
            height: 420,
            border: '1px solid var(--ph-line)',
            borderRadius: 8,
            background: 'white',
          }}
        />
      </Tabs.Panel>
      <Tabs.Panel value="source">
        <Snippet code={html} label="The source" />
      </Tabs.Panel>
    </Tabs>
  )
}
