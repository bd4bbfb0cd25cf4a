import { Checkbox, Select, SimpleGrid, TextInput } from '@mantine/core'
import type { AdminAccount } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { ACCOUNTS } from './paths.ts'

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'suspended', label: 'Suspended: its requests are refused' },
]

/** Who the account is, and whether it may send. */
export function AccountForm({ account }: { account: AdminAccount }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { id, name, status, homeCountry, currency, phone } = account
  const form = useApiForm({
    initial: { name, status, homeCountry, currency, number: phone.number ?? '', verified: phone.verified },
    send: (_, { number, verified, ...body }) =>
      api.patch('/api/admin/accounts/{id}', {
        path: { id },
        // An existing number can be changed but not removed: the API refuses that with an error at its field.
        body: {
          ...body,
          phone: { ...(verified !== undefined && { verified }), ...(number !== undefined && { number }) },
        },
      }),
    fieldOf: path => path.replace(/^phone\./, ''),
    onDone() {
      invalidate([ACCOUNTS])
      notifyDone('The account is changed.')
    },
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Save the account">
      <TextInput label="Name" autoComplete="off" {...getInputProps('name')} />
      <Select label="State" data={STATUSES} allowDeselect={false} {...getInputProps('status')} />
      <SimpleGrid cols={2}>
        <TextInput
          label="Home country"
          description="Two letters; SMS to this country are local"
          maxLength={2}
          autoComplete="off"
          {...getInputProps('homeCountry')}
        />
        <TextInput
          label="Currency"
          description="Fixed after the first credit"
          maxLength={3}
          autoComplete="off"
          {...getInputProps('currency')}
        />
      </SimpleGrid>
      <TextInput label="Phone" dir="ltr" autoComplete="off" {...getInputProps('number')} />
      <Checkbox label="The phone is verified" {...getInputProps('verified', { type: 'checkbox' })} />
    </ApiForm>
  )
}
