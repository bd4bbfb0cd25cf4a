import { Checkbox, Input, SegmentedControl, Select, SimpleGrid, Slider, Stack, Text } from '@mantine/core'
import type { AccountView, TemplateView } from '../../../../sdk/index.ts'
import { VERIFICATION_CHANNELS } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import { channelName } from '../../parts/channel-name.ts'

type Settings = AccountView['verification']
export type SettingsDraft = Omit<Settings, 'templateId'> & { templateId: string }

/** Whether a template can be used for codes: the code must be its only variable, and none go over sessions and bots. */
export function isCodeTemplate({ category, provider, subType, indexedPlaceholders }: TemplateView): boolean {
  const isForVerification = category !== 'message' && provider !== 'user_session'
  return isForVerification && subType === 'otp' && indexedPlaceholders.length === 1
}

/** The fields of a template that the selection shows. */
export type CodeTemplate = { id: string; name: string; language: string | null }

const ORDERS = [
  { value: 'policy', label: 'By policy' },
  { value: 'learned', label: 'By conversion' },
]

export function settingsDraft(settings: Settings): SettingsDraft {
  return { ...settings, channels: [...settings.channels], templateId: settings.templateId ?? '' }
}

export function settingsBody({ templateId, ...settings }: Partial<SettingsDraft>): Partial<Settings> {
  return {
    ...settings,
    ...(templateId !== undefined && { templateId: templateId === '' ? null : templateId }),
  }
}

export function settingsField(path: string): string {
  return path.replace(/^verification\./, '').replace(/^channels.*/, 'channels')
}

/** The settings of codes: length, template, channels. */
export function SettingsFields({
  form,
  templates,
  disabled = false,
}: {
  form: ApiForm<SettingsDraft>
  templates: readonly CodeTemplate[]
  disabled?: boolean
}) {
  const { getInputProps, values, setFieldValue } = form.fields
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" mb="sm">
        <LabelledSlider
          id="length"
          label={`${values.codeLength} digits`}
          marks={[4, 8]}
          disabled={disabled}
          {...getInputProps('codeLength')}
        />
        <LabelledSlider
          id="validity"
          label={`Valid for ${values.validityMinutes} ${values.validityMinutes === 1 ? 'minute' : 'minutes'}`}
          marks={[1, 10]}
          disabled={disabled}
          {...getInputProps('validityMinutes')}
        />
      </SimpleGrid>
      <Checkbox.Group
        label="Send over all of these at once"
        description="As far as they suit the recipient. None: routing chooses one channel."
        {...getInputProps('channels')}
      >
        <SimpleGrid cols={{ base: 1, sm: 2 }} mt="xs" spacing="xs">
          {VERIFICATION_CHANNELS.map(value => (
            <Checkbox key={value} value={value} label={channelName(value)} disabled={disabled} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Order form={form} disabled={disabled} />
      <Select
        label="Template"
        description="A template of type OTP, for the channels of its kind"
        placeholder="The default of each channel"
        clearable
        disabled={disabled}
        data={templates.map(({ id, name, language }) => ({
          value: id,
          label: language === null ? name : `${name} (${language})`,
        }))}
        {...getInputProps('templateId')}
        value={values.templateId === '' ? null : values.templateId}
        onChange={id => setFieldValue('templateId', id ?? '')}
      />
    </>
  )
}

/** The order of channels if routing chooses among several. */
function Order({ form, disabled }: { form: ApiForm<SettingsDraft>; disabled: boolean }) {
  const { getInputProps, values } = form.fields
  const learned = values.channelOrder === 'learned'
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" mb={learned ? 'sm' : 0}>
      <Input.Wrapper
        label="Order of channels"
        labelElement="div"
        description={
          learned
            ? 'The channel whose codes are confirmed most often in the country comes first'
            : 'The order of the connections, which the operator sets'
        }
      >
        <SegmentedControl
          fullWidth
          mt={6}
          aria-label="Order of channels"
          data={ORDERS}
          disabled={disabled}
          {...getInputProps('channelOrder')}
        />
      </Input.Wrapper>
      {learned && (
        <LabelledSlider
          id="trial"
          label={`${values.trialPercent} of 100 codes try a channel with little data`}
          marks={[0, 20]}
          disabled={disabled}
          {...getInputProps('trialPercent')}
        />
      )}
    </SimpleGrid>
  )
}

function LabelledSlider({
  id,
  label,
  marks: [min, max],
  ...props
}: {
  id: string
  label: string
  marks: [min: number, max: number]
  disabled: boolean
  value?: number
}) {
  return (
    <Stack gap={6} pb="sm">
      <Text size="sm" fw={600} id={`verification-${id}`}>
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
