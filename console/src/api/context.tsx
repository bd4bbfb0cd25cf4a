import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { type Posthorn, PosthornError } from '../../../sdk/index.ts'
import type { ConsoleFetchDeps } from './console-fetch.ts'
import type { Reachability } from './reachability.ts'
import type { Tabs } from './tabs.ts'

export type ApiContext = {
  api: Posthorn
  reachability: Reachability
  /** `fetch` as the signed-in person, for what the SDK cannot do: streams, and uploads with progress. */
  fetch: (request: Request) => Promise<Response>
  identity: ConsoleFetchDeps['identity']
  /** The same console in other tabs. */
  tabs: Tabs
}

const Context = createContext<ApiContext | null>(null)

export function useApiContext(): ApiContext {
  const context = useContext(Context)
  if (!context) throw new Error('outside of ApiProvider')
  return context
}

/** The SDK; for reads use `useRead`, which caches and refreshes them. */
export function useApi(): Posthorn {
  return useApiContext().api
}

const STALE_MS = 10_000

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // Errors below 500 are final; other errors and network failures are retried.
        retry: (count, error) => !(error instanceof PosthornError && error.status < 500) && count < 2,
        refetchOnWindowFocus: true,
        // The browser's online state says nothing of a server on the same machine. And a failed request is
        // reported, instead of silently waiting for a connection.
        networkMode: 'always',
        refetchOnReconnect: true,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}

export function ApiProvider({
  value,
  client,
  children,
}: {
  value: ApiContext
  client: QueryClient
  children: ReactNode
}) {
  const { tabs } = value
  useEffect(
    () => tabs.listen(word => word.kind === 'changed' && invalidate(client, word.paths)),
    [tabs, client],
  )
  return (
    <Context value={value}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </Context>
  )
}

/** Invalidates everything that was read from these paths and below. */
export function invalidate(client: QueryClient, paths: readonly string[]): void {
  void client.invalidateQueries({
    predicate: ({ queryKey }) => paths.some(path => String(queryKey[0]).startsWith(path)),
  })
}
