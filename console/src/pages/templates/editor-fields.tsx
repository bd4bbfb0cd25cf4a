import {
  Checkbox,
  Group,
  Input,
  NumberInput,
  Radio,
  SegmentedControl,
  Select,
  SimpleGrid,
  Text,
  TextInput,
} from '@mantine/core'
import type { OfficialSender } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import { formatMoney } from '../../parts/money.tsx'
import { useSession } from '../../session/context.tsx'
import { ButtonFields } from './button-fields.tsx'
import { type Draft, hasProviderText, placeholderCount } from './draft.ts'
import classes from './editor.module.css'
import { HeaderFields } from './header-fields.tsx'
import { KINDS, SUB_TYPES } from './kinds.ts'
import { OtpFields } from './otp-fields.tsx'
import { fillPlaceholders } from './placeholders.ts'
import { TemplateTextField } from './template-text-field.tsx'
import type { UploadPath } from './upload.tsx'
import { useSmsParts } from './use-sms-parts.ts'

export function EditorFields({
  form,
  senders,
  uploadTo,
}: {
  form: ApiForm<Draft>
  /** Null if there is no choice of senders. */
  senders: readonly OfficialSender[] | null
  uploadTo: UploadPath
}) {
  const { fields } = form
  const { kind, bound } = fields.values
  const { getInputProps } = fields
  const official = kind === 'official'
  return (
    <>
      <KindField fields={fields} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <TextInput
          label="Name"
          description="Lowercase letters and underscores"
          placeholder="order_update"
          autoComplete="off"
          data-autofocus
          {...getInputProps('name')}
          onChange={event => fields.setFieldValue('name', asName(event.currentTarget.value))}
        />
        {kind !== 'sms' && (
          <TextInput
            label="Language"
            description="Such as en or pt_BR"
            placeholder="en"
            dir="ltr"
            {...getInputProps('language')}
          />
        )}
      </SimpleGrid>
      <Input.Wrapper label="Type" labelElement="div">
        <SegmentedControl
          data={[...SUB_TYPES]}
          w="fit-content"
          aria-label="Type"
          display="flex"
          {...getInputProps('subType')}
        />
      </Input.Wrapper>
      {official && <SenderFields fields={fields} senders={senders} />}
      {official && bound ? (
        <ExistingFields fields={fields} />
      ) : hasProviderText(fields.values) ? (
        <OtpFields fields={fields} />
      ) : (
        <ContentFields fields={fields} uploadTo={uploadTo} />
      )}
    </>
  )
}

function KindField({ fields }: { fields: ApiForm<Draft>['fields'] }) {
  const props = fields.getInputProps('kind')
  return (
    <Radio.Group label="Kind" {...props}>
      <div className={classes.kinds}>
        {KINDS.map(({ value, label, text }) => (
          <Radio.Card key={value} value={value} className={classes.kind}>
            <Text fw={550} size="sm">
              {label}
            </Text>
            <Text size="xs" c="dimmed">
              {text}
            </Text>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  )
}

function SenderFields({
  fields,
  senders,
}: {
  fields: ApiForm<Draft>['fields']
  senders: readonly OfficialSender[] | null
}) {
  return (
    <Group align="flex-end" gap="lg">
      {senders !== null && (
        <Select
          label="Official sender"
          placeholder="Default"
          clearable
          w={280}
          data={senders.map(({ id, label, displayName }) => ({ value: id, label: label ?? displayName }))}
          {...fields.getInputProps('officialSenderId')}
          value={fields.values.officialSenderId === '' ? null : fields.values.officialSenderId}
          onChange={id => fields.setFieldValue('officialSenderId', id ?? '')}
        />
      )}
      <Checkbox
        mb={senders === null ? 0 : 9}
        label="It already exists at the provider"
        {...fields.getInputProps('bound', { type: 'checkbox' })}
      />
    </Group>
  )
}

function ExistingFields({ fields }: { fields: ApiForm<Draft>['fields'] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
      <TextInput
        label="Template id at the provider"
        dir="ltr"
        {...fields.getInputProps('providerTemplateId')}
      />
      <NumberInput
        label="Variables"
        description="How many values each message needs"
        min={0}
        max={100}
        {...fields.getInputProps('manualVariableCount')}
      />
    </SimpleGrid>
  )
}

function ContentFields({ fields, uploadTo }: { fields: ApiForm<Draft>['fields']; uploadTo: UploadPath }) {
  const { kind, words } = fields.values
  const official = kind === 'official'
  return (
    <>
      {kind === 'email' && (
        <TextInput label="Subject" maxLength={255} {...fields.getInputProps('emailSubject')} />
      )}
      {(official || kind === 'chat') && (
        <HeaderFields fields={fields} textOnly={!official} uploadTo={uploadTo} />
      )}
      <TemplateTextField
        fields={fields}
        label={kind === 'email' ? 'Text or HTML' : 'Text'}
        rows={kind === 'email' ? 12 : 5}
        foot={
          kind === 'sms' ? (
            <Parts draft={fields.values} />
          ) : (
            `${words.length.toLocaleString()} characters${official ? ' of 1,024' : ''}`
          )
        }
      />
      <Examples fields={fields} />
      {official && (
        <>
          <TextInput
            label="Footer"
            placeholder="Up to 60 characters"
            maxLength={60}
            {...fields.getInputProps('footer')}
          />
          <ButtonFields fields={fields} />
        </>
      )}
    </>
  )
}

/** The number of parts, counted by the server with the examples filled in. */
function Parts({ draft: { words, examples } }: { draft: Draft }) {
  const { membership } = useSession()
  const parts = useSmsParts(fillPlaceholders(words, examples), membership !== null)
  if (words === '') return 'A part has up to 160 characters, or 70 with characters outside GSM-7'
  if (membership === null) return `${words.length.toLocaleString()} characters`
  if (!parts?.sms) return 'Counting…'
  const { sms, billing } = parts
  return (
    <span className="ph-num">
      {sms.characters.toLocaleString()} characters of {sms.encoding} · {sms.parts}{' '}
      {sms.parts === 1 ? 'part' : 'parts'}
      {billing && ` · ${formatMoney(billing.estimatedCost, billing.currency)}`}
    </span>
  )
}

function Examples({ fields }: { fields: ApiForm<Draft>['fields'] }) {
  const count = placeholderCount(fields.values)
  if (count === 0) return null
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
      <Text component="legend" size="sm" fw={600} mb={6}>
        Examples{' '}
        <Text span size="xs" c="dimmed">
          for the preview and the provider’s review
        </Text>
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
        {Array.from({ length: count }, (_, at) => (
          <TextInput
            // biome-ignore lint/suspicious/noArrayIndexKey: places are known by their number
            key={at}
            aria-label={`Example of {{${at + 1}}}`}
            leftSection={<span className="ph-mono" style={{ fontSize: '0.72rem' }}>{`{{${at + 1}}}`}</span>}
            leftSectionWidth={52}
            {...fields.getInputProps(`examples.${at}`)}
            value={fields.values.examples[at] ?? ''}
          />
        ))}
      </SimpleGrid>
    </fieldset>
  )
}

/** Converts typed text to a valid name as far as is obvious; the API refuses the rest. */
function asName(typed: string): string {
  return typed.toLowerCase().replaceAll(/[\s-]+/g, '_')
}
