import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Estimate } from '../../../../sdk/index.ts'
import { useApi, useApiContext } from '../../api/context.tsx'
import { useRead } from '../../api/use-read.ts'

const SETTLE_MS = 200
/** Somebody must be meant to be counted for: a number that nobody has, where the account has none. */
const NOBODY = '+12025550100'

/** How a text travels as SMS and what it costs, by the server's own count; null while that is not known. */
export function useParts(text: string, enabled: boolean): Pick<Estimate, 'sms' | 'billing'> | null {
  const api = useApi()
  const { accountId, mode } = useApiContext().identity()
  const account = useRead('/api/v2/account', undefined, { enabled })
  const [settled] = useDebouncedValue(text, SETTLE_MS)
  const to = account.data?.data.phone.number ?? NOBODY
  const body = { to, messageType: 'utility' as const, text: settled }
  const estimate = useQuery({
    queryKey: ['/api/v2/messages/estimate', body, `${accountId} ${mode}`],
    queryFn: ({ signal }) => api.post('/api/v2/messages/estimate', { body, signal }),
    enabled: enabled && settled !== '' && account.data !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
  })
  return enabled && text !== '' ? (estimate.data?.data ?? null) : null
}
