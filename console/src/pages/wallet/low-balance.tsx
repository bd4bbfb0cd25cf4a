import { Modal } from '@mantine/core'
import type { WalletWithThreshold } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { useInvalidate } from '../../api/use-read.ts'
import { amountOf } from '../../parts/amount.ts'
import { AmountInput } from '../../parts/amount-input.tsx'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { notifyDone } from '../../parts/toast.tsx'

type Props = { opened: boolean; wallet: WalletWithThreshold; onClose: () => void }

export function LowBalance({ opened, ...props }: Props) {
  return (
    <Modal opened={opened} onClose={props.onClose} title="Low balance alert">
      <LowBalanceForm {...props} />
    </Modal>
  )
}

function LowBalanceForm({ wallet, onClose }: Omit<Props, 'opened'>) {
  const api = useApi()
  const invalidate = useInvalidate()
  const form = useApiForm({
    initial: { lowBalance: String(wallet.lowBalance) },
    send: ({ lowBalance }) => api.patch('/api/v2/wallet', { body: { lowBalance: amountOf(lowBalance) } }),
    onDone() {
      invalidate(['/api/v2/wallet'])
      notifyDone('The threshold is set.')
    },
    onClose,
  })
  return (
    // An empty field would be 0, which means never.
    <ApiForm form={form} submitLabel="Set the threshold" disabled={form.fields.values.lowBalance === ''}>
      <AmountInput
        label={`Alert below, in ${wallet.currency}`}
        description="Webhook endpoints receive wallet.low each time the balance falls below this amount. 0 turns alerts off."
        data-autofocus
        {...form.fields.getInputProps('lowBalance')}
      />
    </ApiForm>
  )
}
