import { Alert, Anchor, Skeleton, Stack, Text } from '@mantine/core'
import { Lock } from 'lucide-react'
import { Link } from 'wouter'
import type { AccountView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate, useRead } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card } from '../../parts/page.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import {
  type CodeTemplate,
  isCodeTemplate,
  SettingsFields,
  settingsBody,
  settingsDraft,
  settingsField,
} from './settings-fields.tsx'

/** The account's settings for codes; they apply to the next code. */
export default function Settings() {
  const account = useRead('/api/v2/account', undefined, { inBothModes: true })
  const templates = useRead('/api/v2/templates', undefined, { inBothModes: true })
  // If a refresh fails, the form and its input stay.
  const missing = [account, templates].filter(read => !read.data)
  const failed = missing.find(read => read.error)
  if (failed) return <ReadFault error={failed.error} retry={failed.refetch} />
  if (!account.data || !templates.data) return <Skeleton h={420} maw={720} />
  const otps = templates.data.data.filter(isCodeTemplate)
  return (
    <Stack gap="lg" maw={720}>
      <Card title="Codes">
        <SettingsForm settings={account.data.data.verification} templates={otps} />
      </Card>
      <Card title="Fraud guard">
        <Text c="dimmed">
          Refused codes are listed under{' '}
          <Anchor component={Link} href="/verification/blocks" underline="always">
            Blocks
          </Anchor>
          . Only the operator can set its rules, countries and daily cap, so that a leaked key cannot turn it
          off.
        </Text>
      </Card>
    </Stack>
  )
}

function SettingsForm({
  settings,
  templates,
}: {
  settings: AccountView['verification']
  templates: readonly CodeTemplate[]
}) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { may } = useSession()
  const owner = may('owner')
  const form = useApiForm({
    initial: settingsDraft(settings),
    send: (_, edited) => api.patch('/api/v2/account', { body: { verification: settingsBody(edited) } }),
    fieldOf: settingsField,
    onDone() {
      invalidate(['/api/v2/account'])
      notifyDone('The settings apply from the next code.')
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save" disabled={!owner}>
      {!owner && (
        <Alert variant="light" color="gray" icon={<Lock size={16} />}>
          Only owners of the account can change these.
        </Alert>
      )}
      <SettingsFields form={form} templates={templates} disabled={!owner} />
    </ApiForm>
  )
}
