import { Alert, Anchor, Button, Group, Stack, Text, TextInput, ThemeIcon } from '@mantine/core'
import { ArrowRight, Check } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { faultOf } from '../../api/fault.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { FaultNote } from '../../parts/api-form.tsx'
import { Snippets } from '../../parts/code.tsx'
import { newId } from '../../parts/new-id.ts'
import { Page } from '../../parts/page.tsx'
import { sendSnippets } from '../../parts/snippets.ts'
import { Time } from '../../parts/time.tsx'
import { useShowOnce } from '../../parts/use-show-once.tsx'
import { useSession } from '../../session/context.tsx'
import { summaryOf } from '../sandbox/sandbox.tsx'
import classes from './welcome.module.css'

const TO = '+12025550123'
const TEXT = 'Hello from Posthorn'
const POLL_EVERY_MS = 1_000

/** Guides to a first message, with a key that works as pasted. */
export default function Welcome() {
  const { session, membership, mode, choose } = useSession()
  const showOnce = useShowOnce()
  const key = useAction(
    (api, _: null) =>
      api.post('/api/v2/api-keys', {
        body: { name: 'First steps', mode: 'test', permissions: ['messages:create', 'messages:read'] },
      }),
    {
      changes: ['/api/v2/api-keys'],
      // On the page it is shown from the result.
      onDone: ({ data }) => showOnce('Your test key', data.apiKey, () => {}),
    },
  )
  const send = useAction(
    (api, _: null) =>
      api.post('/api/v2/messages/send', {
        body: { to: TO, text: TEXT },
        idempotencyKey: newId(),
      }),
    { changes: ['/api/v2/sandbox', '/api/v2/messages', '/api/v2/stats'] },
  )
  const inbox = useRead('/api/v2/sandbox/messages', { query: { limit: 5 } }, { everyMs: POLL_EVERY_MS })
  const apiKey = key.data?.data.apiKey
  // New messages are recognised by their ids and not by time, since the clocks of browser and server may differ.
  const [before, setBefore] = useState<ReadonlySet<string> | null>(null)
  if (before === null && inbox.data) setBefore(new Set(inbox.data.data.map(({ messageId }) => messageId)))
  const arrived = (inbox.data?.data ?? []).filter(({ messageId }) => before?.has(messageId) === false)

  return (
    <Page
      narrow
      title={`Welcome, ${session.user.name}`}
      lead={`Three steps to the first message of ${membership?.account.name ?? 'your account'}. It goes to the sandbox: nothing leaves this server, and it is free.`}
    >
      <Stack gap="lg">
        <Step number={1} title="Get a test key" done={apiKey !== undefined}>
          {apiKey === undefined ? (
            <Group>
              <Button loading={key.isPending} disabled={before === null} onClick={() => key.mutate(null)}>
                Create a test key
              </Button>
            </Group>
          ) : (
            <Stack gap="xs">
              <TextInput
                readOnly
                aria-label="The test key"
                value={apiKey}
                classNames={{ input: 'ph-mono' }}
                onFocus={event => event.currentTarget.select()}
              />
              <Text size="sm" c="dimmed">
                It is shown only this once, and is already in the code below.{' '}
                <Anchor component={Link} href="/keys">
                  All keys
                </Anchor>
              </Text>
            </Stack>
          )}
          <FaultNote fault={key.error ? faultOf(key.error) : null} />
        </Step>
        <Step number={2} title="Send a message" done={arrived.length > 0}>
          <Snippets codes={sendSnippets({ to: TO, text: TEXT }, apiKey)} />
          <Group mt="sm">
            {mode === 'test' ? (
              <Button variant="default" loading={send.isPending} onClick={() => send.mutate(null)}>
                Or send it from here
              </Button>
            ) : (
              // In live mode this would send a live message, which is charged.
              <Button variant="default" onClick={() => choose({ mode: 'test' })}>
                Switch to test mode to send it
              </Button>
            )}
          </Group>
          <FaultNote fault={send.error ? faultOf(send.error) : null} />
        </Step>
        <Step number={3} title="See it arrive" done={arrived.length > 0}>
          <div aria-live="polite">
            {arrived.length === 0 ? (
              <Text c="dimmed">Waiting for the first message: it appears here automatically.</Text>
            ) : (
              <Stack gap="xs">
                {arrived.map(message => (
                  <div key={message.messageId} className={classes.bubble}>
                    <Text size="sm" c="dimmed">
                      <bdi>{message.to}</bdi> · <Time at={message.receivedAt} />
                    </Text>
                    <div className="ph-words">{summaryOf(message)}</div>
                  </div>
                ))}
              </Stack>
            )}
          </div>
        </Step>
        {arrived.length > 0 && (
          <Alert color="verdigris" variant="light" icon={<Check size={16} />} title="It works">
            <Text>Next: see the steps of its delivery, or connect a provider to send real messages.</Text>
            <Group mt="sm" gap="xs">
              <Button
                component={Link}
                href={`/messages/${arrived[0]!.messageId}`}
                size="xs"
                rightSection={<ArrowRight size={14} />}
              >
                Show the timeline
              </Button>
              <Button component="a" href="/docs" target="_blank" rel="noreferrer" size="xs" variant="default">
                API reference
              </Button>
            </Group>
          </Alert>
        )}
      </Stack>
    </Page>
  )
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number
  title: string
  done: boolean
  children: ReactNode
}) {
  return (
    <section className={`ph-card ${classes.step}`}>
      <ThemeIcon radius="xl" size={26} variant={done ? 'filled' : 'default'} aria-hidden>
        {done ? (
          <Check size={15} />
        ) : (
          <Text size="sm" fw={600}>
            {number}
          </Text>
        )}
      </ThemeIcon>
      <div style={{ minWidth: 0, flex: 1 }}>
        <h2 className={classes.title}>{title}</h2>
        {children}
      </div>
    </section>
  )
}
