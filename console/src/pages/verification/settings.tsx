import { Alert, Anchor, Checkbox, Select, SimpleGrid, Skeleton, Slider, Stack, Text } from '@mantine/core'
import { Lock } from 'lucide-react'
import { Link } from 'wouter'
import type { AccountView, TemplateView, VerificationChannel } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useForget, useRead } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { channelName } from '../../parts/channel-name.ts'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card } from '../../parts/page.tsx'
import { tellDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'

const CHANNELS: readonly VerificationChannel[] = ['local_sms', 'int_sms', 'official_chatapp', 'email_user']

/** How the account's codes are made; they hold for the next one. */
export default function Settings() {
  const account = useRead('/api/v2/account')
  const templates = useRead('/api/v2/templates')
  if (account.error) return <ReadFault error={account.error} retry={account.refetch} />
  if (!account.data || !templates.data) return <Skeleton h={420} maw={720} />
  const otps = templates.data.data.filter(({ subType }) => subType === 'otp')
  return (
    <Stack gap="lg" maw={720}>
      <Card title="Codes">
        <SettingsForm settings={account.data.data.verification} templates={otps} />
      </Card>
      <Card title="Fraud guard">
        <Text c="dimmed">
          What it refuses is listed under{' '}
          <Anchor component={Link} href="/verification/blocks" underline="always">
            Blocks
          </Anchor>
          . Its rules, countries and the daily cap are the operator’s to set, so that a key that leaks cannot
          switch it off.
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
  templates: readonly TemplateView[]
}) {
  const api = useApi()
  const forget = useForget()
  const { may } = useSession()
  const owner = may('owner')
  const form = useApiForm({
    initial: { ...settings, channels: [...settings.channels], templateId: settings.templateId ?? '' },
    send: ({ templateId, ...values }) =>
      api.patch('/api/v2/account', {
        body: { verification: { ...values, templateId: templateId === '' ? null : templateId } },
      }),
    fieldOf: path => path.replace(/^verification\./, '').replace(/^channels.*/, 'channels'),
    onDone() {
      forget(['/api/v2/account'])
      tellDone('This holds for the next code.')
    },
  })
  const { getInputProps, values } = form.fields
  return (
    <ApiForm form={form} submitLabel="Save" disabled={!owner}>
      {!owner && (
        <Alert variant="light" color="gray" icon={<Lock size={16} />}>
          Owners of the account change these.
        </Alert>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" mb="sm">
        <Scale
          id="length"
          label={`${values.codeLength} digits`}
          min={4}
          max={8}
          disabled={!owner}
          {...getInputProps('codeLength')}
        />
        <Scale
          id="validity"
          label={`Valid for ${values.validityMinutes} ${values.validityMinutes === 1 ? 'minute' : 'minutes'}`}
          min={1}
          max={10}
          disabled={!owner}
          {...getInputProps('validityMinutes')}
        />
      </SimpleGrid>
      <Checkbox.Group
        label="All of these at once"
        description="As far as they fit the recipient. None: the one channel that routing chooses."
        {...getInputProps('channels')}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs" spacing="xs">
          {CHANNELS.map(value => (
            <Checkbox key={value} value={value} label={channelName(value)} disabled={!owner} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Select
        label="Words"
        description="A template of type OTP, on the channels that it is for"
        placeholder="The default of each channel"
        clearable
        disabled={!owner}
        data={templates.map(({ id, name, language }) => ({
          value: id,
          label: language === null ? name : `${name} (${language})`,
        }))}
        {...getInputProps('templateId')}
        value={values.templateId === '' ? null : values.templateId}
        onChange={id => form.fields.setFieldValue('templateId', id ?? '')}
      />
    </ApiForm>
  )
}

function Scale({
  id,
  label,
  min,
  max,
  ...props
}: {
  id: string
  label: string
  min: number
  max: number
  disabled: boolean
  value?: number
}) {
  return (
    <Stack gap={6} pb="sm">
      <Text size="sm" fw={500} id={`verification-${id}`}>
        {label}
      </Text>
      <Slider
        min={min}
        max={max}
        label={null}
        marks={[min, max].map(value => ({ value, label: String(value) }))}
        thumbProps={{ 'aria-labelledby': `verification-${id}` }}
        {...props}
      />
    </Stack>
  )
}
