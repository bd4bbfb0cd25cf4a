import { useDebouncedValue } from '@mantine/hooks'
import type { Estimate } from '../../../../sdk/index.ts'
import { useEstimate } from '../../api/use-estimate.ts'
import { useRead } from '../../api/use-read.ts'

const SETTLE_MS = 200
/** An estimate needs a recipient: an unassigned number if the account has no phone. */
const UNASSIGNED_NUMBER = '+12025550100'

/** The parts and price of a text as SMS, from the server's estimate; null while it is unknown. */
export function useSmsParts(text: string, enabled: boolean): Pick<Estimate, 'sms' | 'billing'> | null {
  const account = useRead('/api/v2/account', undefined, { enabled })
  const [settled] = useDebouncedValue(text, SETTLE_MS)
  const to = account.data?.data.phone.number ?? UNASSIGNED_NUMBER
  const body = { to, messageType: 'utility' as const, text: settled }
  const estimate = useEstimate(enabled && settled !== '' && account.data !== undefined ? body : null)
  return enabled && text !== '' ? (estimate.data?.data ?? null) : null
}
