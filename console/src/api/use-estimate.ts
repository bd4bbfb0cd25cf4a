import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { SingleSendBody } from '../../../sdk/index.ts'
import { useApiContext } from './context.tsx'

/** What a send of `body` would do; keeps the last result until the next one arrives. Null requests nothing. */
export function useEstimate(body: SingleSendBody | null) {
  const { api, identity } = useApiContext()
  const { accountId, mode } = identity()
  return useQuery({
    queryKey: ['/api/v2/messages/estimate', body, `${accountId} ${mode}`],
    queryFn: ({ signal }) => api.post('/api/v2/messages/estimate', { body: body!, signal }),
    enabled: body !== null,
    placeholderData: keepPreviousData,
    retry: false,
  })
}
