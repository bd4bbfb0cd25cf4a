import { Modal, Text, TextInput } from '@mantine/core'
import type { AdminAccount } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { amountOf } from '../../../parts/amount.ts'
import { AmountInput } from '../../../parts/amount-input.tsx'
import { ApiForm, useApiForm } from '../../../parts/api-form.tsx'
import { formatSum } from '../../../parts/money.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { type IdempotentSend, useIdempotentSend } from '../../../parts/use-idempotent-send.ts'
import { ACCOUNTS } from './paths.ts'

type Props = { account: AdminAccount; onClose: () => void }

export function AddCredit({ opened, ...props }: Props & { opened: boolean }) {
  // Outside of the dialog: whoever closes it after a lost response, and enters the credit again, means the same one.
  const once = useIdempotentSend()
  return (
    <Modal opened={opened} onClose={props.onClose} title="Add credit">
      <CreditForm once={once} {...props} />
    </Modal>
  )
}

function CreditForm({ account, once, onClose }: Props & { once: IdempotentSend }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { id, wallet } = account
  const form = useApiForm({
    initial: { amount: '', note: '' },
    send({ amount, note }) {
      const body = { amount: amountOf(amount), ...(note !== '' && { note }) }
      return once(body, idempotencyKey =>
        api.post('/api/admin/accounts/{id}/credits', { path: { id }, body, idempotencyKey }),
      )
    },
    onDone({ data }) {
      invalidate([ACCOUNTS])
      notifyDone(`The balance is ${formatSum(data.balance, data.currency)} now.`)
    },
    onClose,
  })
  return (
    <ApiForm form={form} submitLabel="Add the credit">
      <Text c="dimmed">
        The balance is {formatSum(wallet.balance, wallet.currency)}. A credit cannot be undone.
      </Text>
      <AmountInput
        label={`Amount in ${wallet.currency}`}
        data-autofocus
        {...form.fields.getInputProps('amount')}
      />
      <TextInput
        label="Note"
        description="Shown in the account’s ledger"
        maxLength={500}
        {...form.fields.getInputProps('note')}
      />
    </ApiForm>
  )
}
