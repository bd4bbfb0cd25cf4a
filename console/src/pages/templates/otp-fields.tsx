import { Checkbox, NumberInput, Select, SimpleGrid, TextInput } from '@mantine/core'
import type { ApiForm } from '../../parts/api-form.tsx'
import type { Draft } from './draft.ts'

const TYPES = [
  { value: 'copy_code', label: 'Copied by a button' },
  { value: 'one_tap', label: 'Filled in by one tap' },
  { value: 'zero_tap', label: 'Filled in by itself' },
]

/** How the app gets the one-time code; the text is WhatsApp's own. */
export function OtpFields({ fields }: { fields: ApiForm<Draft>['fields'] }) {
  const { otpType } = fields.values
  const { getInputProps } = fields
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
        <Select label="The code is" data={TYPES} allowDeselect={false} {...getInputProps('otpType')} />
        <TextInput
          label="Button"
          placeholder="Copy code"
          maxLength={25}
          {...getInputProps('otpButtonText')}
        />
        <NumberInput
          label="Valid for"
          description="Shown below the code; empty: not shown"
          suffix=" min"
          min={1}
          max={90}
          {...getInputProps('codeExpirationMinutes')}
        />
      </SimpleGrid>
      <Checkbox
        label="Add a warning not to share the code"
        {...getInputProps('addSecurityRecommendation', { type: 'checkbox' })}
      />
      {otpType !== 'copy_code' && (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TextInput
            label="Android package"
            placeholder="com.example.app"
            dir="ltr"
            {...getInputProps('packageName')}
          />
          <TextInput
            label="Signature hash"
            description="11 characters"
            maxLength={11}
            dir="ltr"
            {...getInputProps('signatureHash')}
          />
        </SimpleGrid>
      )}
      {otpType === 'zero_tap' && (
        <Checkbox
          label="We accept the provider’s terms for zero-tap codes"
          {...getInputProps('zeroTapTermsAccepted', { type: 'checkbox' })}
        />
      )}
    </>
  )
}
