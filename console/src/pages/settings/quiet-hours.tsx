import { Alert, Group, Switch, Text, TextInput } from '@mantine/core'
import { Lock } from 'lucide-react'
import type { AccountView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useForget } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { Card } from '../../parts/page.tsx'
import { tellDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'

const USUAL = { start: '21:00', end: '08:00' }

/** When marketing waits. Members see it, owners set it. */
export function QuietHours({ quietHours }: Pick<AccountView, 'quietHours'>) {
  const { may } = useSession()
  return (
    <Card title="Quiet hours">
      {may('owner') ? <QuietForm quietHours={quietHours} /> : <QuietTold quietHours={quietHours} />}
    </Card>
  )
}

function QuietTold({ quietHours }: Pick<AccountView, 'quietHours'>) {
  return (
    <Alert variant="light" color="gray" icon={<Lock size={16} />}>
      {quietHours === null
        ? 'None: marketing goes at every hour.'
        : `Marketing waits from ${quietHours.start} to ${quietHours.end}, by the clocks of the recipient’s country.`}{' '}
      Owners of the account change this.
    </Alert>
  )
}

function QuietForm({ quietHours }: Pick<AccountView, 'quietHours'>) {
  const api = useApi()
  const forget = useForget()
  const form = useApiForm({
    initial: { on: quietHours !== null, ...(quietHours ?? USUAL) },
    send: ({ on, start, end }) =>
      api.patch('/api/v2/account', { body: { quietHours: on ? { start, end } : null } }),
    fieldOf: path => path.replace(/^quietHours\./, '').replace(/^quietHours$/, 'end'),
    onDone({ data }) {
      forget(['/api/v2/account'])
      tellDone(
        data.quietHours === null
          ? 'Marketing goes at every hour.'
          : `Marketing waits from ${data.quietHours.start} to ${data.quietHours.end}.`,
      )
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm form={form} submitLabel="Save">
      <Switch
        label="Marketing waits at night"
        description="Messages of the type marketing that fall into these hours go when they end"
        {...getInputProps('on', { type: 'checkbox' })}
      />
      {values.on && (
        <Group align="flex-start">
          <TextInput label="From" type="time" w={140} {...getInputProps('start')} />
          <TextInput label="Until" type="time" w={140} {...getInputProps('end')} />
        </Group>
      )}
      <Text size="sm" c="dimmed">
        By the clocks of the recipient’s country. Codes and utility messages go at every hour.
      </Text>
    </ApiForm>
  )
}
