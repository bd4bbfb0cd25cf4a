import { Modal, SimpleGrid, TextInput } from '@mantine/core'
import type { Answer } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { amountOf } from '../../../parts/amount.ts'
import { AmountInput } from '../../../parts/amount-input.tsx'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { type IdempotentSend, useIdempotentSend } from '../../../parts/use-idempotent-send.ts'
import { ACCOUNTS } from './paths.ts'

export type CreatedAccount = Answer<'/api/admin/accounts', 'post'>['data']
type Props = { onClose: () => void; onMade: (made: CreatedAccount) => void }

export function CreateAccount({ opened, ...props }: Props & { opened: boolean }) {
  // Outside of the dialog: whoever closes it after a lost response, and enters the account again, means the same one.
  const once = useIdempotentSend()
  return (
    <Modal opened={opened} onClose={props.onClose} title="New account">
      <CreateForm once={once} {...props} />
    </Modal>
  )
}

function CreateForm({ once, onMade }: Props & { once: IdempotentSend }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { name: '', homeCountry: '', currency: '', phone: '', balance: '' },
    send({ phone, balance, ...fields }) {
      const body = {
        ...fields,
        ...(phone !== '' && { phone: { number: phone } }),
        ...(balance !== '' && { balance: amountOf(balance) }),
      }
      return once(body, idempotencyKey => api.post(ACCOUNTS, { body, idempotencyKey }))
    },
    fieldOf: path => (path === 'phone.number' ? 'phone' : path),
    onDone({ data }) {
      invalidate([ACCOUNTS])
      onMade(data)
    },
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Create the account">
      <TextInput label="Name" data-autofocus autoComplete="off" {...getInputProps('name')} />
      <SimpleGrid cols={2}>
        <TextInput
          label="Home country"
          description="Two letters, such as DE"
          maxLength={2}
          autoComplete="off"
          {...getInputProps('homeCountry')}
          onChange={event =>
            form.fields.setFieldValue('homeCountry', event.currentTarget.value.toUpperCase())
          }
        />
        <TextInput
          label="Currency"
          description="Three letters, such as EUR"
          maxLength={3}
          autoComplete="off"
          {...getInputProps('currency')}
          onChange={event => form.fields.setFieldValue('currency', event.currentTarget.value.toUpperCase())}
        />
      </SimpleGrid>
      <TextInput
        label="Phone"
        description="With country code; optional"
        autoComplete="off"
        dir="ltr"
        {...getInputProps('phone')}
      />
      <AmountInput
        label="First credit"
        description="In the account’s currency; optional"
        {...getInputProps('balance')}
      />
    </ApiForm>
  )
}
