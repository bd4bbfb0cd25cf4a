import { Fieldset, MultiSelect, NumberInput, Select, SimpleGrid, TagsInput, Text } from '@mantine/core'
import { type FraudSettings, type FraudSettingsView, GUARDED_TYPES } from '../../../../../sdk/index.ts'
import { useInvalidate } from '../../../api/use-read.ts'
import { AmountInput } from '../../../parts/amount-input.tsx'
import { ApiForm, type ApiForm as FormState, useApiForm } from '../../../parts/api-form.tsx'
import { humanize } from '../../../parts/status-badge.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { ACCOUNTS } from '../accounts/paths.ts'
import { FRAUD } from './paths.ts'
import { fieldOf, MODES, onTopOf, RULES, toSettings, toValues, type Values } from './rules.ts'

/** The label of a rule that is not set: the default, or the platform's setting. */
export type DefaultLabel = 'Default' | 'As for all accounts'

export function FraudForm({
  view,
  usual,
  read,
  save,
}: {
  view: FraudSettingsView
  usual: DefaultLabel
  /** Reads the current settings. */
  read: () => Promise<FraudSettingsView>
  /** Saves the settings in place of the current ones. */
  save: (settings: FraudSettings) => Promise<unknown>
}) {
  const invalidate = useInvalidate()
  const form = useApiForm<Values, unknown>({
    initial: toValues(view.settings),
    async send(values) {
      // All are replaced: with those that were read here, a change of another operator would be undone.
      const { settings } = await read()
      const edited = onTopOf(toValues(settings), toValues(view.settings), values)
      return save(toSettings(edited, settings))
    },
    fieldOf,
    onDone() {
      // The platform's settings apply to accounts without their own.
      invalidate([FRAUD, ACCOUNTS])
      notifyDone('The rules apply from the next code.')
    },
  })
  return (
    <ApiForm form={form} submitLabel="Save the rules">
      {RULES.map(rule => (
        <RuleFields
          key={rule.name}
          rule={rule}
          form={form}
          usual={usual}
          set={view.settings[rule.name] ?? {}}
          effective={view.effective[rule.name]}
        />
      ))}
      <Fieldset legend="Never blocked">
        <TagsInput
          label="Numbers and addresses"
          description="A phone number in E.164 format, an e-mail address, or a prefix with *, such as +4479*. Press Enter to add each."
          {...form.fields.getInputProps('safe')}
        />
      </Fieldset>
    </ApiForm>
  )
}

function RuleFields({
  rule: { name, title, text, numbers },
  form,
  usual,
  set,
  effective,
}: {
  rule: (typeof RULES)[number]
  form: FormState<Values>
  usual: DefaultLabel
  set: Record<string, unknown>
  effective: Record<string, unknown>
}) {
  const { getInputProps } = form.fields
  /** The effective value of a field that is not set; undefined if it is set. */
  const preset = (field: string) => (set[field] === undefined ? effective[field] : undefined)
  const mode = MODES.find(({ value }) => value === preset('mode'))?.label
  return (
    <Fieldset legend={title}>
      <Text size="sm" c="dimmed" mb="sm">
        {text}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Select
          label="Action"
          data={[...MODES]}
          placeholder={mode === undefined ? usual : `${usual}: ${mode}`}
          clearable
          {...getInputProps(`${name}.mode`)}
        />
        {numbers.map(number => {
          const common = {
            label: number.label,
            placeholder: String(preset(number.name) ?? (number.name === 'dailyCap' ? 'None' : usual)),
            ...getInputProps(`${name}.${number.name}`),
          }
          if (number.amount) return <AmountInput key={number.name} {...common} />
          return <NumberInput key={number.name} {...common} min={0} hideControls />
        })}
      </SimpleGrid>
      {name === 'numberType' && (
        <MultiSelect
          mt="sm"
          label="Types"
          placeholder={
            form.fields.values.numberType.list.length === 0 ? listed(preset('types'), usual) : undefined
          }
          data={GUARDED_TYPES.map(value => ({ value, label: humanize(value) }))}
          clearable
          {...getInputProps('numberType.list')}
        />
      )}
      {name === 'allowedCountries' && (
        <TagsInput
          mt="sm"
          label="Allowed"
          description="Two letters each, such as DE. Press Enter to add each."
          placeholder={
            form.fields.values.allowedCountries.list.length === 0
              ? listed(preset('countries'), 'All countries')
              : undefined
          }
          {...getInputProps('allowedCountries.list')}
        />
      )}
    </Fieldset>
  )
}

function listed(words: unknown, none: string): string {
  return Array.isArray(words) && words.length > 0 ? words.map(humanize).join(', ') : none
}
