import { Checkbox, Group, MultiSelect, NumberInput, SimpleGrid, TextInput, Title } from '@mantine/core'
import type { Channel, ConnectionView, MessageType, ProviderView } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { ApiForm, follow, useApiForm } from '../../../parts/api-form.tsx'
import { channelName } from '../../../parts/channel-name.ts'
import { typeName } from '../../../parts/type-name.ts'
import { AccountSelect } from '../account-select.tsx'
import { CONNECTIONS } from './paths.ts'
import { BadJson, type FormConfig, fromFormConfig, type Schema, toFormConfig } from './schema.ts'
import { SchemaFields } from './schema-fields.tsx'

type Values = {
  name: string
  channels: Channel[]
  accountId: string | null
  priorityOrder: number
  retryPolicy: ConnectionView['retryPolicy']
  allowedTypes: MessageType[]
  sendModeByType: ConnectionView['sendModeByType']
  /** Secrets that the next save removes. */
  removed: string[]
  config: FormConfig
}

const DEFAULT_ORDER = 100

/** A connection of a provider: what is every connection's, and what the provider's schema asks for. */
export function ConnectionForm({
  provider,
  connection,
  onDone,
}: {
  provider: ProviderView
  /** Null for a new one. */
  connection: ConnectionView | null
  onDone: (connection: ConnectionView) => void
}) {
  const api = useApi()
  const invalidate = useInvalidate()
  const schema = provider.config as Schema
  const form = useApiForm<Values, ConnectionView>({
    initial: initialOf(provider, connection),
    async send({ accountId, config, removed, ...body }, edited) {
      const drawn = fromFormConfig(schema, config)
      if (connection === null) {
        const whole = {
          ...body,
          provider: provider.key,
          config: drawn,
          ...(accountId !== null && { accountId }),
        }
        return (await api.post(CONNECTIONS, { body: whole })).data.connection
      }
      const { accountId: _, config: __, removed: ___, ...general } = edited
      const given = {
        ...general,
        config: {
          ...clearedOf(provider, connection, drawn, removed),
          ...editedConfig(schema, connection, drawn),
        },
      }
      return (await api.patch('/api/admin/connections/{id}', { path: { id: connection.id }, body: given }))
        .data
    },
    fieldOf: path => path.replace(/^(channels|allowedTypes)\[\d+\]$/, '$1'),
    onError(error) {
      if (!(error instanceof BadJson)) return false
      form.fields.setFieldError(error.path, error.message)
      document.querySelector<HTMLElement>(`[data-path="${CSS.escape(error.path)}"]`)?.focus()
      return true
    },
    onDone(done, sent) {
      // The new values have no secrets, and none of the removed ones. What was typed during the save stays.
      if (connection !== null)
        form.fields.setValues(now => follow(now, sent, initialOf(provider, done)) as Values)
      invalidate([CONNECTIONS])
      onDone(done)
    },
  })
  return (
    <ApiForm form={form} submitLabel={connection ? 'Save the connection' : 'Create the connection'}>
      <General form={form} provider={provider} fresh={connection === null} />
      <Title order={2} size="h4" mt="md">
        Settings of {provider.key}
      </Title>
      <SchemaFields
        schema={schema}
        path="config"
        fields={form.fields}
        secrets={{
          names: provider.secrets,
          set: connection?.secretsSet ?? [],
          removed: form.fields.values.removed,
          onRemoved: removed => form.fields.setFieldValue('removed', removed),
        }}
      />
    </ApiForm>
  )
}

function General({
  form,
  provider,
  fresh,
}: {
  form: ApiForm<Values>
  provider: ProviderView
  fresh: boolean
}) {
  const { getInputProps } = form.fields
  return (
    <>
      <TextInput
        label="Name"
        description="Shown to operators and in the status of channels"
        withAsterisk
        autoComplete="off"
        {...getInputProps('name')}
      />
      <MultiSelect
        label="Channels"
        withAsterisk
        data={provider.channels.map(value => ({ value, label: channelName(value) }))}
        {...getInputProps('channels')}
      />
      {fresh && (
        <AccountSelect
          label="Only for"
          placeholder="Every account"
          clearable
          {...getInputProps('accountId')}
        />
      )}
      <Checkbox.Group label="Message types" {...getInputProps('allowedTypes')}>
        <Group gap="lg" mt={6}>
          {provider.policy.allowedTypes.map(type => (
            <Checkbox key={type} value={type} label={typeName(type)} />
          ))}
        </Group>
      </Checkbox.Group>
      <SendModes form={form} provider={provider} />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <NumberInput
          label="Order"
          description="The lowest is tried first"
          allowDecimal={false}
          {...getInputProps('priorityOrder')}
        />
        <NumberInput
          label="Attempts"
          description="Per message, at most"
          allowDecimal={false}
          {...getInputProps('retryPolicy.maxAttempts')}
        />
        <NumberInput
          label="Retry delay"
          description="Before the second attempt, in ms"
          allowDecimal={false}
          thousandSeparator=","
          {...getInputProps('retryPolicy.backoffMs')}
        />
      </SimpleGrid>
    </>
  )
}

/** Which types may use a template; the provider decides for which that is possible. */
function SendModes({ form: { fields }, provider }: { form: ApiForm<Values>; provider: ProviderView }) {
  const { sendModeByType: modes, allowedTypes } = fields.values
  const able = provider.policy.allowedTypes.filter(
    type => provider.policy.sendModeByType[type] === 'template_optional' && allowedTypes.includes(type),
  )
  if (able.length === 0) return null
  return (
    <Checkbox.Group
      label="Also sends approved templates"
      description="For these message types; others are sent only as plain text"
      value={able.filter(type => modes[type] === 'template_optional')}
      onChange={chosen =>
        fields.setFieldValue('sendModeByType', {
          ...modes,
          ...Object.fromEntries(
            able.map(type => [type, chosen.includes(type) ? 'template_optional' : 'plain_text']),
          ),
        })
      }
    >
      <Group gap="lg" mt={6}>
        {able.map(type => (
          <Checkbox key={type} value={type} label={typeName(type)} />
        ))}
      </Group>
    </Checkbox.Group>
  )
}

function initialOf(provider: ProviderView, connection: ConnectionView | null): Values {
  const { channels, policy, config } = provider
  return {
    name: connection?.name ?? '',
    channels: [...(connection?.channels ?? (channels.length === 1 ? channels : []))],
    accountId: connection?.accountId ?? null,
    priorityOrder: connection?.priorityOrder ?? DEFAULT_ORDER,
    retryPolicy: { ...(connection?.retryPolicy ?? policy.retryPolicy) },
    allowedTypes: [...(connection?.allowedTypes ?? policy.allowedTypes)],
    sendModeByType: {
      ...((connection?.sendModeByType ?? policy.sendModeByType) as ConnectionView['sendModeByType']),
    },
    removed: [],
    config: toFormConfig(config as Schema, connection?.config ?? {}),
  }
}

/** The fields of the configuration that differ from the current ones. */
function editedConfig(schema: Schema, connection: ConnectionView, drawn: FormConfig): FormConfig {
  const current = fromFormConfig(schema, toFormConfig(schema, connection.config))
  const edited = Object.entries(drawn).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(current[name]),
  )
  return Object.fromEntries(edited)
}

/**
 * Fields that had a value and are empty now: the API takes null to remove them. An empty secret is kept
 * unless it was removed.
 */
function clearedOf(
  provider: ProviderView,
  connection: ConnectionView,
  drawn: FormConfig,
  removed: readonly string[],
): FormConfig {
  const gone = Object.keys(connection.config).filter(
    name => !(name in drawn) && !provider.secrets.includes(name),
  )
  return Object.fromEntries([...gone, ...removed].map(name => [name, null]))
}
