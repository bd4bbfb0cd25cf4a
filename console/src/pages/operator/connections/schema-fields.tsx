import {
  Button,
  Checkbox,
  Fieldset,
  Input,
  Group as MantineGroup,
  NumberInput,
  Select,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { ReactNode } from 'react'
import { SecretInput } from '../../../parts/secret-input.tsx'
import { choicesOf, type FormConfig, kindOf, labelOf, type Schema, toFormConfig } from './schema.ts'

/** The form in which the drawn fields stand, whatever else it has. */
// biome-ignore lint/suspicious/noExplicitAny: the values of other fields are not touched
type Fields = UseFormReturnType<any>
type Secrets = {
  /** Secrets can be written but never read. */
  names: readonly string[]
  /** Secrets that have a value. */
  set: readonly string[]
  /** Secrets that are to be removed. */
  removed: readonly string[]
  onRemoved: (removed: string[]) => void
}

/** The fields of an object as its schema describes them. */
export function SchemaFields({
  schema,
  path,
  fields,
  secrets,
}: {
  schema: Schema
  path: string
  fields: Fields
  secrets?: Secrets
}) {
  const entries = Object.entries(schema.properties ?? {})
  if (entries.length === 0) return <Text c="dimmed">It needs no settings.</Text>
  return (
    <Stack gap="md">
      {entries.map(([name, field]) => {
        const label = labelOf(name)
        const needed = schema.required?.includes(name) ?? false
        const hasValue = secrets?.set.includes(name) ?? false
        const drawn = (
          <Field
            key={name}
            schema={field}
            path={`${path}.${name}`}
            label={label}
            needed={needed}
            secret={secrets?.names.includes(name) ?? false}
            hasValue={hasValue}
            fields={fields}
          />
        )
        if (!hasValue || needed) return drawn
        return (
          <Removable key={name} name={name} label={label} secrets={secrets!}>
            {drawn}
          </Removable>
        )
      })}
    </Stack>
  )
}

/** An optional secret can be removed; until it is saved, a note says so. */
function Removable({
  name,
  label,
  secrets: { removed, onRemoved },
  children,
}: {
  name: string
  label: string
  secrets: Secrets
  children: ReactNode
}) {
  if (removed.includes(name)) {
    return (
      <Input.Wrapper label={label} labelElement="div">
        <MantineGroup gap="sm">
          <Text size="sm" c="var(--ph-bad)">
            The value is removed when you save.
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onRemoved(removed.filter(each => each !== name))}
          >
            Keep it
          </Button>
        </MantineGroup>
      </Input.Wrapper>
    )
  }
  return (
    <div>
      {children}
      <Button
        size="compact-xs"
        variant="subtle"
        color="red"
        mt={4}
        aria-label={`Remove it: ${label}`}
        onClick={() => onRemoved([...removed, name])}
      >
        Remove it
      </Button>
    </div>
  )
}

const YES_OR_NO = [
  { value: 'true', label: 'Yes' },
  { value: 'false', label: 'No' },
]

const MAX_PORT = 65_535

type FieldProps = {
  schema: Schema
  path: string
  label: string
  needed: boolean
  secret: boolean
  /** Whether the secret already has a value. */
  hasValue: boolean
  fields: Fields
}

function Field(props: FieldProps) {
  const { schema, path, label, needed, secret, hasValue, fields } = props
  const preset = schema.default === undefined ? undefined : String(schema.default)
  const common = {
    label,
    description: [schema.description, hasValue && 'A value is set. Leave this empty to keep it.']
      .filter(Boolean)
      .join(' '),
    withAsterisk: needed && !hasValue,
    autoComplete: 'off',
  }
  switch (kindOf(schema)) {
    case 'group':
      return <Group {...props} />
    case 'choice':
      return (
        <Select
          {...common}
          data={choicesOf(schema)!}
          placeholder={preset}
          clearable={!needed}
          {...fields.getInputProps(path)}
        />
      )
    case 'maybe':
      return <Select {...common} data={YES_OR_NO} clearable {...fields.getInputProps(path)} />
    case 'switch':
      return (
        <Checkbox
          label={label}
          description={schema.description}
          {...fields.getInputProps(path, { type: 'checkbox' })}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          allowDecimal={schema.type === 'number'}
          placeholder={preset}
          // No thousands separator for numbers like ports.
          thousandSeparator={(schema.maximum ?? Number.POSITIVE_INFINITY) > MAX_PORT ? ',' : ''}
          {...fields.getInputProps(path)}
        />
      )
    case 'text': {
      if (!secret) return <TextInput {...common} placeholder={preset} {...fields.getInputProps(path)} />
      return (
        <SecretInput
          {...common}
          autoComplete="new-password"
          placeholder={hasValue ? '••••••••' : undefined}
          {...fields.getInputProps(path)}
        />
      )
    }
    default: {
      const json = kindOf(schema) === 'json'
      return (
        <Textarea
          {...common}
          autosize
          minRows={2}
          maxRows={14}
          spellCheck={false}
          dir="ltr"
          placeholder={json ? 'JSON' : preset}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          {...fields.getInputProps(path)}
        />
      )
    }
  }
}

/** Fields that belong together; where they may be left out, a switch says whether they are there. */
function Group({ schema, path, label, needed, hasValue, fields }: FieldProps) {
  const there = fields.getInputProps(path).value !== null
  const legend = needed ? (
    label
  ) : (
    <Switch
      label={hasValue ? `${label}: replace it` : label}
      checked={there}
      onChange={event =>
        fields.setFieldValue(
          path,
          event.currentTarget.checked ? toFormConfig(schema, {} as FormConfig) : null,
        )
      }
    />
  )
  return (
    <Fieldset legend={legend}>
      {schema.description !== undefined && (
        <Text size="xs" c="dimmed" mb={there ? 'sm' : 0}>
          {schema.description}
        </Text>
      )}
      {there && <SchemaFields schema={schema} path={path} fields={fields} />}
    </Fieldset>
  )
}
