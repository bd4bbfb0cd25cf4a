import { Modal, Text } from '@mantine/core'
import type { BotView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { SecretInput } from '../../parts/secret-input.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { BOTS } from './paths.ts'

type Props = { title: string; opened: boolean; onClose: () => void; onMade: (bot: BotView) => void }

/** Registers a bot by its token; another token of a bot that is registered replaces its old one. */
export function RegisterBot({ title, opened, onClose, onMade }: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <RegisterForm title={title} onMade={onMade} />
    </Modal>
  )
}

function RegisterForm({ title, onMade }: Pick<Props, 'title' | 'onMade'>) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { mode } = useSession()
  const form = useApiForm({
    initial: { token: '' },
    send: ({ token }) => api.post('/api/v2/botapp-bots', { body: { token: token.trim() } }),
    onDone({ data: { bot } }) {
      invalidate([BOTS])
      notifyDone(`${bot.name} is connected.`)
      onMade(bot)
    },
  })
  return (
    <ApiForm form={form} submitLabel={title}>
      <SecretInput
        label="Token"
        description={
          mode === 'test'
            ? 'In test mode any text in the form of a token works, such as 123456:anything. It adds a sandbox bot with sample subscribers.'
            : 'From @BotFather, such as 123456:AAE…. It is checked with Telegram and never shown again. Until the operator has added a connection for bots, it adds a sandbox bot.'
        }
        autoComplete="off"
        dir="ltr"
        data-autofocus
        {...form.fields.getInputProps('token')}
      />
      <Text size="sm" c="dimmed">
        If the bot is already connected, this token replaces its old one; its subscribers stay.
      </Text>
    </ApiForm>
  )
}
