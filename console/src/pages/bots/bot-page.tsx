import { ActionIcon, Alert, Anchor, Button, Menu, Skeleton, Stack } from '@mantine/core'
import { CircleAlert, Ellipsis, KeyRound, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { BotView } from '../../../../sdk/index.ts'
import { useAction, useRead } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { MaybeTime, Time } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useGo } from '../../parts/use-go.ts'
import { BotState } from './bot-list.tsx'
import { BOTS, MAX_BOTS } from './paths.ts'
import { RegisterBot } from './register-bot.tsx'
import { Subscribers } from './subscribers.tsx'

const POLL_EVERY_MS = 10_000

/** One bot and its subscribers. */
export default function BotPage({ botId }: { botId: string }) {
  const bots = useRead(BOTS, { query: { limit: MAX_BOTS } }, { everyMs: POLL_EVERY_MS })
  const bot = bots.data?.data.find(({ id }) => id === botId)
  const back = (
    <Anchor component={Link} href="/bots" size="sm">
      All bots
    </Anchor>
  )
  if (!bot) {
    return (
      <Page title="Bot" lead={back}>
        {bots.error && <ReadFault error={bots.error} retry={bots.refetch} />}
        {bots.isPending && <Skeleton h={420} />}
        {!bots.isPending && !bots.error && <NoBot />}
      </Page>
    )
  }
  return (
    <Page
      title={bot.name}
      lead={back}
      actions={
        <>
          <BotState bot={bot} />
          <BotMenu bot={bot} />
        </>
      }
    >
      <Stack gap="lg">
        {bot.state === 'unauthorized' && (
          <Alert
            color="red"
            variant="light"
            icon={<CircleAlert size={16} />}
            title="Telegram rejects the token"
          >
            The bot sends and receives nothing until it has a valid token. Get a new one from @BotFather and
            enter it here.
          </Alert>
        )}
        {bot.problem && (
          <Alert
            color="yellow"
            variant="light"
            icon={<CircleAlert size={16} />}
            title="Messages to the bot may not arrive here"
          >
            Since <Time at={bot.problem.since} />: {bot.problem.detail}.
          </Alert>
        )}
        <BotFacts bot={bot} />
        <Subscribers bot={bot} />
      </Stack>
    </Page>
  )
}

function NoBot() {
  return (
    <EmptyNote
      title="Bot not found"
      text="It may have been removed, or belong to another account."
      action={
        <Button component={Link} href="/bots" variant="default">
          All bots
        </Button>
      }
    />
  )
}

function BotFacts({ bot }: { bot: BotView }) {
  const { username, telegramUserId, mode, lastUpdateAt, createdAt, id } = bot
  return (
    <Card>
      <Facts
        facts={[
          username === null
            ? null
            : [
                'Link',
                <span key="u" dir="ltr">
                  t.me/{username} <CopyButton text={`https://t.me/${username}`} what="the link" small />
                </span>,
              ],
          [
            'Telegram id',
            <span key="t" className="ph-num">
              {telegramUserId}
            </span>,
          ],
          mode === null ? null : ['Receives by', mode === 'webhook' ? 'webhook' : 'polling'],
          ['Last update', <MaybeTime key="l" at={lastUpdateAt} none="Never" />],
          ['Added', <Time key="a" at={createdAt} />],
          ['Id', <CopyId key="i" id={id} />],
        ]}
      />
    </Card>
  )
}

function BotMenu({ bot }: { bot: BotView }) {
  const go = useGo()
  const [asked, setAsked] = useState<'token' | 'delete' | null>(null)
  const close = () => setAsked(null)
  const remove = useAction(api => api.delete('/api/v2/botapp-bots/{botId}', { path: { botId: bot.id } }), {
    changes: [BOTS],
    onDone() {
      notifyDone('The bot is removed.')
      go('/bots')
    },
  })
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label="Actions for the bot">
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<KeyRound size={15} />} onClick={() => setAsked('token')}>
            Replace the token
          </Menu.Item>
          <Menu.Item
            leftSection={<Trash2 size={15} />}
            color="var(--ph-bad)"
            onClick={() => setAsked('delete')}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <RegisterBot title="Replace the token" opened={asked === 'token'} onClose={close} onMade={close} />
      <ConfirmDialog
        opened={asked === 'delete'}
        onClose={close}
        title="Remove this bot?"
        text={
          <>
            <b>
              <bdi>{bot.name}</bdi>
            </b>{' '}
            and its {bot.subscribers.toLocaleString()} subscribers are removed here, and messages that wait
            for the bot fail. The bot itself stays on Telegram.
          </>
        }
        confirmLabel="Remove the bot"
        run={() => remove.mutateAsync(undefined)}
      />
    </>
  )
}
