import { Button, Group, Input, SegmentedControl, Select, Text, Textarea, TextInput } from '@mantine/core'
import { MessagesSquare } from 'lucide-react'
import { type AccountView, ATTACHMENT_TYPES, type ConversationContext } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { humanize } from '../../parts/status-badge.tsx'
import { type Draft, supportsFile } from './draft.ts'
import { TemplateFields, useVariablesOf } from './template-fields.tsx'

const TYPES = [
  { value: 'free_text', label: 'Free text' },
  { value: 'utility', label: 'Utility' },
  { value: 'marketing', label: 'Marketing' },
  { value: 'otp', label: 'OTP' },
]

export function SendFields({ form: { fields } }: { form: ApiForm<Draft> }) {
  const templates = useRead('/api/v2/templates')
  const account = useRead('/api/v2/account')
  const { getInputProps, values } = fields
  const usable = (templates.data?.data ?? []).filter(
    ({ status }) => status === 'approved' || status === 'active',
  )
  const template = usable.find(({ id }) => id === values.templateId)
  useVariablesOf(template, fields)
  const isMail = values.channel === 'email_user' || (values.channel === 'auto' && values.to.includes('@'))

  return (
    <>
      <TextInput
        label="To"
        placeholder="+12025550123 or someone@example.com"
        autoComplete="off"
        autoFocus
        dir="ltr"
        {...getInputProps('to')}
      />
      {values.conversation !== null && (
        <ConversationNote
          conversation={values.conversation}
          onLeave={() => fields.setFieldValue('conversation', null)}
        />
      )}
      <Group grow align="flex-start">
        <Select
          label="Channel"
          allowDeselect={false}
          disabled={values.conversation !== null}
          data={[
            { value: 'auto', label: 'Automatic' },
            ...CHANNELS.map(value => ({ value, label: channelName(value) })),
          ]}
          {...getInputProps('channel')}
        />
        <Sender fields={fields} account={account.data?.data} />
      </Group>
      {values.templateId === '' && (
        <Input.Wrapper label="Type" labelElement="div">
          <SegmentedControl fullWidth data={TYPES} aria-label="Type" {...getInputProps('messageType')} />
        </Input.Wrapper>
      )}
      {usable.length > 0 && (
        <Select
          label="Template"
          placeholder="None: write a text"
          clearable
          searchable
          data={usable.map(({ id, name, language }) => ({
            value: id,
            label: language ? `${name} (${language})` : name,
          }))}
          {...getInputProps('templateId')}
          value={values.templateId === '' ? null : values.templateId}
          onChange={id => fields.setFieldValue('templateId', id ?? '')}
        />
      )}
      {template ? (
        <TemplateFields key={template.id} fields={fields} template={template} />
      ) : (
        <TextFields form={{ fields }} isMail={isMail} />
      )}
      {supportsFile(values) && <ChatFile fields={fields} />}
      <TextInput
        label="Send at"
        description="In your local time. Empty: at once."
        type="datetime-local"
        {...getInputProps('scheduleAt')}
      />
    </>
  )
}

type Fields = ApiForm<Draft>['fields']

/** The sender, if the channel has several. */
function Sender({ fields, account }: { fields: Fields; account: AccountView | undefined }) {
  const { channel, conversation } = fields.values
  if (!account || conversation !== null) return null
  if (channel === 'official_chatapp') {
    const choices = account.officialSenders.map(({ id, label, displayName }) => ({
      value: id,
      label: label ?? displayName,
    }))
    return <SenderChoice fields={fields} name="officialSenderId" choices={choices} />
  }
  if (channel !== 'auto' && channel !== 'local_sms' && channel !== 'int_sms') return null
  const approved = account.smsSenders.filter(({ status }) => status === 'approved')
  const choices = approved.map(({ id, name }) => ({ value: id, label: name }))
  return <SenderChoice fields={fields} name="sender" choices={choices} />
}

function SenderChoice({
  fields,
  name,
  choices,
}: {
  fields: Fields
  name: 'sender' | 'officialSenderId'
  choices: readonly { value: string; label: string }[]
}) {
  if (choices.length === 0) return null
  return (
    <Select
      label="From"
      placeholder="Default"
      clearable
      data={[...choices]}
      {...fields.getInputProps(name)}
      value={fields.values[name] === '' ? null : fields.values[name]}
      onChange={id => fields.setFieldValue(name, id ?? '')}
    />
  )
}

/** A file in addition to the text, fetched from its URL by the provider. */
function ChatFile({ fields }: { fields: Fields }) {
  const { getInputProps, values } = fields
  return (
    <Group align="flex-start" wrap="nowrap">
      <Select
        label="File"
        placeholder="None"
        clearable
        w={140}
        data={ATTACHMENT_TYPES.map(value => ({ value, label: humanize(value) }))}
        {...getInputProps('fileType')}
        value={values.fileType === '' ? null : values.fileType}
        onChange={type => fields.setFieldValue('fileType', type ?? '')}
      />
      {values.fileType !== '' && (
        <TextInput
          label="File URL"
          placeholder="https://example.com/menu.pdf"
          flex={1}
          dir="ltr"
          {...getInputProps('fileUrl')}
        />
      )}
    </Group>
  )
}

const KINDS = {
  botapp_bot: 'Telegram bot',
  chatapp_web: 'WhatsApp session',
  chatapp_official: 'WhatsApp Business',
}

function ConversationNote({
  conversation: { moduleType, accountId },
  onLeave,
}: {
  conversation: ConversationContext
  onLeave: () => void
}) {
  return (
    <Group gap="xs" wrap="nowrap">
      <MessagesSquare size={15} color="var(--ph-quiet)" aria-hidden style={{ flex: 'none' }} />
      <Text size="sm" c="dimmed" truncate style={{ flex: 1 }}>
        In a conversation of the {KINDS[moduleType]} <span className="ph-mono">{accountId}</span>
      </Text>
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onLeave}>
        Leave
      </Button>
    </Group>
  )
}

function TextFields({ form: { fields }, isMail }: { form: Pick<ApiForm<Draft>, 'fields'>; isMail: boolean }) {
  const { getInputProps, values } = fields
  return (
    <>
      {isMail && <TextInput label="Subject" {...getInputProps('subject')} />}
      {values.messageType === 'otp' && (
        <TextInput
          label="Code"
          description="Sent in the text of your OTP template"
          autoComplete="off"
          {...getInputProps('otpCode')}
        />
      )}
      <Textarea label="Text" autosize minRows={4} maxRows={16} {...getInputProps('text')} />
    </>
  )
}
