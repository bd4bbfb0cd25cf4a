import { Fieldset, MultiSelect, NumberInput, Select, SimpleGrid, TagsInput, Text } from '@mantine/core'
import type { FraudSettingsView } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useForget } from '../../../api/use-read.ts'
import { ApiForm, type ApiForm as FormState, useApiForm } from '../../../parts/api-form.tsx'
import { inWords } from '../../../parts/status-badge.tsx'
import { tellDone } from '../../../parts/toast.tsx'
import { FRAUD } from './paths.ts'
import { fieldOf, MODES, NUMBER_TYPES, RULES, toSettings, toValues, type Values } from './rules.ts'

export function FraudForm({ view }: { view: FraudSettingsView }) {
  const api = useApi()
  const forget = useForget()
  const form = useApiForm<Values, unknown>({
    initial: toValues(view.settings),
    send: values => api.put(FRAUD, { body: toSettings(values) }),
    fieldOf,
    onDone() {
      forget([FRAUD])
      tellDone('The rules hold for the next code.')
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save the rules">
      {RULES.map(rule => (
        <RuleFields
          key={rule.name}
          rule={rule}
          form={form}
          set={view.settings[rule.name] ?? {}}
          effective={view.effective[rule.name]}
        />
      ))}
      <Fieldset legend="Never blocked">
        <TagsInput
          label="Numbers and addresses"
          description="E.164, an e-mail address, or how numbers begin and a *, as in +4479*. Enter adds one."
          {...form.fields.getInputProps('safe')}
        />
      </Fieldset>
    </ApiForm>
  )
}

function RuleFields({
  rule: { name, title, text, numbers },
  form,
  set,
  effective,
}: {
  rule: (typeof RULES)[number]
  form: FormState<Values>
  set: Record<string, unknown>
  effective: Record<string, unknown>
}) {
  const { getInputProps } = form.fields
  /** What holds where nothing is set; unknown where something is. */
  const preset = (field: string) => (set[field] === undefined ? effective[field] : undefined)
  const mode = MODES.find(({ value }) => value === preset('mode'))?.label
  return (
    <Fieldset legend={title}>
      <Text size="sm" c="dimmed" mb="sm">
        {text}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Select
          label="What happens"
          data={[...MODES]}
          placeholder={mode === undefined ? 'As it comes' : `As it comes: ${mode}`}
          clearable
          {...getInputProps(`${name}.mode`)}
        />
        {numbers.map(number => (
          <NumberInput
            key={number.name}
            label={number.label}
            placeholder={String(preset(number.name) ?? (number.name === 'dailyCap' ? 'None' : 'As it comes'))}
            min={0}
            hideControls
            {...getInputProps(`${name}.${number.name}`)}
          />
        ))}
      </SimpleGrid>
      {name === 'numberType' && (
        <MultiSelect
          mt="sm"
          label="Kinds"
          placeholder={form.fields.values.numberType.list.length === 0 ? listed(preset('types')) : undefined}
          data={NUMBER_TYPES.map(value => ({ value, label: inWords(value) }))}
          clearable
          {...getInputProps('numberType.list')}
        />
      )}
      {name === 'allowedCountries' && (
        <TagsInput
          mt="sm"
          label="Allowed"
          description="Two letters each, as in DE. Enter adds one."
          {...getInputProps('allowedCountries.list')}
        />
      )}
    </Fieldset>
  )
}

function listed(types: unknown): string {
  return Array.isArray(types) ? types.map(inWords).join(', ') : 'As it comes'
}
