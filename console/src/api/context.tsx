import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect } from 'react'
import { type Posthorn, PosthornError } from '../../../sdk/index.ts'
import type { Away } from './away.ts'
import type { ConsoleFetchDeps } from './console-fetch.ts'
import type { Tabs } from './tabs.ts'

export type ApiContext = {
  api: Posthorn
  away: Away
  /** As whoever is signed in, for what the client cannot say: streams and uploads with progress. */
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

/** The client; reads go through `useRead`, which keeps and refreshes them. */
export function useApi(): Posthorn {
  return useApiContext().api
}

const STALE_MS = 10_000

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // What the server said is not asked for twice; silence is.
        retry: (count, error) => !(error instanceof PosthornError && error.status < 500) && count < 2,
        refetchOnWindowFocus: true,
        // What the browser knows of its lines says nothing of a server on the same machine; and where a
        // request fails, that is told, instead of one that waits for a line in silence.
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
  useEffect(() => tabs.listen(word => word.kind === 'changed' && forget(client, word.paths)), [tabs, client])
  return (
    <Context value={value}>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </Context>
  )
}

/** Reads anew what was read from these paths, and below them. */
export function forget(client: QueryClient, paths: readonly string[]): void {
  void client.invalidateQueries({
    predicate: ({ queryKey }) => paths.some(path => String(queryKey[0]).startsWith(path)),
  })
}
