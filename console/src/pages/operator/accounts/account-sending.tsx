import { Skeleton, Stack, Text } from '@mantine/core'
import type { AdminAccount } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate, useRead } from '../../../api/use-read.ts'
import { amountOf } from '../../../parts/amount.ts'
import { AmountInput } from '../../../parts/amount-input.tsx'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { Card } from '../../../parts/page.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import {
  QuietFields,
  quietBody,
  quietDraft,
  quietField,
  quietHoursText,
} from '../../settings/quiet-fields.tsx'
import {
  type CodeTemplate,
  isCodeTemplate,
  SettingsFields,
  settingsBody,
  settingsDraft,
  settingsField,
} from '../../verification/settings-fields.tsx'
import { PLATFORM_TEMPLATES } from '../templates/paths.ts'
import { ACCOUNTS } from './paths.ts'

/** How the account sends: what its owners may change too. */
export default function AccountSending({ account }: { account: AdminAccount }) {
  return (
    <Stack gap="lg" maw={760}>
      <Card title="Codes">
        <Codes account={account} />
      </Card>
      <Card title="Quiet hours">
        <Quiet account={account} />
      </Card>
      <Card title="Low balance">
        <LowBalance account={account} />
      </Card>
    </Stack>
  )
}

function Codes({ account: { id, verification } }: { account: AdminAccount }) {
  const templates = useCodeTemplates(verification.templateId)
  if (!templates) return <Skeleton h={260} />
  return <CodesForm id={id} verification={verification} templates={templates} />
}

/** Those that every account may use; the operator sees no account's own, save by its id. */
function useCodeTemplates(chosen: string | null): readonly CodeTemplate[] | null {
  const read = useRead(PLATFORM_TEMPLATES)
  if (read.isPending) return null
  const shared = (read.data?.data ?? []).filter(isCodeTemplate)
  if (chosen === null || shared.some(({ id }) => id === chosen)) return shared
  return [...shared, { id: chosen, name: chosen, language: null }]
}

function CodesForm({
  id,
  verification,
  templates,
}: Pick<AdminAccount, 'id' | 'verification'> & { templates: readonly CodeTemplate[] }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: settingsDraft(verification),
    send: (_, edited) =>
      api.patch('/api/admin/accounts/{id}', { path: { id }, body: { verification: settingsBody(edited) } }),
    fieldOf: settingsField,
    onDone() {
      invalidate([ACCOUNTS])
      notifyDone('The settings apply from the account’s next code.')
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save the code settings">
      <SettingsFields form={form} templates={templates} />
    </ApiForm>
  )
}

function Quiet({ account: { id, quietHours } }: { account: AdminAccount }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: quietDraft(quietHours),
    send: draft => api.patch('/api/admin/accounts/{id}', { path: { id }, body: quietBody(draft) }),
    fieldOf: quietField,
    onDone({ data }) {
      invalidate([ACCOUNTS])
      notifyDone(quietHoursText(data.quietHours))
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save the quiet hours">
      <QuietFields form={form} />
    </ApiForm>
  )
}

function LowBalance({ account: { id, wallet } }: { account: AdminAccount }) {
  const api = useApi()
  const form = useApiForm({
    initial: { lowBalance: '' },
    send: ({ lowBalance }) =>
      api.patch('/api/admin/accounts/{id}/wallet', {
        path: { id },
        body: lowBalance === '' ? {} : { lowBalance: amountOf(lowBalance) },
      }),
    onDone: ({ data }) =>
      notifyDone(
        data.lowBalance === 0
          ? 'Low balance alerts are off for the account.'
          : 'The account is notified when its balance falls below this.',
      ),
  })
  return (
    <ApiForm form={form} submitLabel="Save the threshold" disabled={form.fields.values.lowBalance === ''}>
      <AmountInput
        label={`Alert below, in ${wallet.currency}`}
        description="Replaces the account’s own threshold; 0 turns alerts off"
        maw={300}
        {...form.fields.getInputProps('lowBalance')}
      />
      <Text size="sm" c="dimmed">
        Its webhook endpoints receive wallet.low each time the balance falls below this amount.
      </Text>
    </ApiForm>
  )
}
