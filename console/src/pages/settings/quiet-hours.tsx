import { Alert, Text } from '@mantine/core'
import { Lock } from 'lucide-react'
import type { AccountView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { Card } from '../../parts/page.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { QuietFields, quietBody, quietDraft, quietField, quietHoursText } from './quiet-fields.tsx'

/** The quiet hours for marketing. Members see them, owners change them. */
export function QuietHours({ quietHours }: Pick<AccountView, 'quietHours'>) {
  const { may } = useSession()
  return (
    <Card title="Quiet hours">
      {may('owner') ? <QuietForm quietHours={quietHours} /> : <QuietHoursNote quietHours={quietHours} />}
    </Card>
  )
}

function QuietHoursNote({ quietHours }: Pick<AccountView, 'quietHours'>) {
  return (
    <Alert variant="light" color="gray" icon={<Lock size={16} />}>
      {quietHours === null
        ? 'None: marketing messages are sent at any hour.'
        : `Marketing messages wait from ${quietHours.start} to ${quietHours.end}, in the time of the recipient’s country.`}{' '}
      Only owners of the account can change this.
    </Alert>
  )
}

function QuietForm({ quietHours }: Pick<AccountView, 'quietHours'>) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: quietDraft(quietHours),
    send: draft => api.patch('/api/v2/account', { body: quietBody(draft) }),
    fieldOf: quietField,
    onDone({ data }) {
      invalidate(['/api/v2/account'])
      notifyDone(quietHoursText(data.quietHours))
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save">
      <QuietFields form={form} />
      <Text size="sm" c="dimmed">
        In the time of the recipient’s country. Codes and utility messages are sent at any hour.
      </Text>
    </ApiForm>
  )
}
