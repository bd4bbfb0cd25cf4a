import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import {
  type Answer,
  type CallInit,
  type PathsWith,
  type Posthorn,
  PosthornError,
  PosthornUnreachable,
} from '../../../sdk/index.ts'
import { invalidate, useApiContext } from './context.tsx'
import { isRefusalStatus } from './fault.ts'
import {
  droppedRowCount,
  FIRST_PAGE,
  nextPageStart,
  type PageStart,
  type Pages,
  type RowUpdate,
  updateRows,
} from './pages.ts'
import { parseExactly } from './parse-exactly.ts'
import { queryNow } from './per-request.ts'

type ReadPath = PathsWith<'get'>
type ReadInit<P extends ReadPath> = CallInit<P, 'get'>

type PagesOptions = {
  enabled?: boolean
  /** Polling interval while the page is visible, in ms. */
  everyMs?: number | undefined
}

type ReadOptions<A> = {
  enabled?: boolean
  /** Polling interval while the page is visible, in ms, possibly depending on the last result. */
  everyMs?: number | ((last: A | undefined) => number) | undefined
  /** Keeps showing the last result until the result of a new query arrives. */
  keepsPrevious?: boolean
  /**
   * The response, or what the page uses of it, is the same in both modes: a switch keeps the page, with what was typed
   * in it.
   */
  inBothModes?: boolean
  /** For JSON of users that is shown: `JSON.stringify` writes its numbers with all their digits. */
  keepsDigits?: boolean
}

/**
 * The response of a GET to `path`, cached and refreshed:
 *
 *     const wallet = useRead('/api/v2/wallet')
 *     const message = useRead('/api/v2/messages/{messageId}', { path: { messageId } })
 */
export function useRead<P extends ReadPath>(
  path: P,
  init?: ReadInit<P>,
  options: ReadOptions<Answer<P, 'get'>> = {},
) {
  const { api } = useApiContext()
  const { everyMs, keepsDigits = false, inBothModes = false } = options
  const queryKey = useKey(path, init, inBothModes)
  const result = useQuery<Answer<P, 'get'>>({
    queryKey,
    queryFn: ({ signal }) =>
      (keepsDigits ? readExactly : read)(api, path, { ...init, signal } as ReadInit<P>),
    enabled: options.enabled ?? true,
    // Merging a result with the last one would copy such numbers as if they were objects.
    ...(keepsDigits && { structuralSharing: false }),
    ...(options.keepsPrevious && { placeholderData: keepPreviousData }),
    ...(everyMs !== undefined && {
      refetchInterval: ({ state }) =>
        isRefusal(state.error) ? false : typeof everyMs === 'number' ? everyMs : everyMs(state.data),
    }),
  })
  const kept = useKeptError(result, queryKey)
  return kept === null ? result : { ...result, ...kept }
}

/**
 * The error of a query without data, which is pending again while it is repeated: in a page that polls, the error would
 * be seen for moments only, and the placeholder for the rest of the time.
 */
function useKeptError(
  { data, error, isPending }: { data: unknown; error: Error | null; isPending: boolean },
  queryKey: readonly unknown[],
): { error: Error; isPending: false } | null {
  const last = useRef<{ error: Error; key: string } | null>(null)
  const key = JSON.stringify(queryKey)
  if (error !== null) last.current = { error, key }
  else if (data !== undefined) last.current = null
  return isPending && last.current?.key === key ? { error: last.current.error, isPending: false } : null
}

/** Whether the same request would be refused again, so that polling is useless. */
function isRefusal(error: unknown): boolean {
  return error instanceof PosthornError && isRefusalStatus(error.status)
}

/** Paths that return a page and a cursor. */
export type PagedPath = {
  [P in ReadPath]: Answer<P, 'get'> extends { data: unknown[]; nextCursor: string | null } ? P : never
}[ReadPath]

type Row<P extends PagedPath> = Answer<P, 'get'> extends { data: (infer R)[] } ? R : never
type PagedQuery = Record<string, string | number | undefined>
const PAGE_ROWS = 100
/** A longer list is not refreshed automatically, since that would read all of its pages. */
const MAX_LIVE_PAGES = 2
/** Pages that are held; earlier ones are dropped, and read again when the person scrolls back. */
const MAX_PAGES = 40

/** The rows of a list, page by page as they are needed. Empty filters are omitted. */
export function useReadPages<P extends PagedPath>(
  path: P,
  init: { query?: PagedQuery; path?: Record<string, string> } = {},
  options: PagesOptions = {},
) {
  const { api } = useApiContext()
  const query = { limit: PAGE_ROWS, ...withoutEmpty(init.query ?? {}) }
  const queryKey = useKey(path, { ...init, query })
  type Answered = { data: Row<P>[]; nextCursor: string | null }
  const pages = useInfiniteQuery<Answered, Error, Pages<Row<P>>, readonly unknown[], PageStart>({
    queryKey,
    queryFn: async ({ pageParam: { cursor }, signal }) => {
      const pageQuery = { ...query, ...(cursor !== null && { cursor }) }
      return (await read(api, path, { ...init, query: pageQuery, signal } as never)) as unknown as Answered
    },
    initialPageParam: FIRST_PAGE,
    getNextPageParam: (last, _, start) => nextPageStart(last, start),
    getPreviousPageParam: (_, __, start) => start.previous,
    maxPages: MAX_PAGES,
    enabled: options.enabled ?? true,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: ({ state }) => isShort(state.data),
    refetchInterval: ({ state }) =>
      isShort(state.data) && !isRefusal(state.error) ? (options.everyMs ?? false) : false,
  })
  const client = useQueryClient()
  /** Drops all pages but the first, which is then refreshed again. */
  function rewind(): void {
    if (droppedRowCount(pages.data) > 0) void client.resetQueries({ queryKey, exact: true })
    else if (!isShort(pages.data)) client.setQueryData<Pages<Row<P>>>(queryKey, data => data && firstOf(data))
  }
  const readAgain = useReadAgain(pages)
  /** Reads the list again, unless many pages are loaded. */
  function refresh(): void {
    if (isShort(pages.data)) readAgain()
  }
  const pendingUpdates = useRef<(() => void)[]>([])
  /** Updates rows that are known to have changed; adds new ones at the top if that is visible. */
  function update(rows: readonly Row<P>[], { keyOf, fits }: Omit<RowUpdate<Row<P>>, 'insert'>): void {
    const apply = () =>
      client.setQueryData<Pages<Row<P>>>(
        queryKey,
        data =>
          data &&
          updateRows(data, rows, { keyOf, fits, insert: isShort(data) && droppedRowCount(data) === 0 }),
      )
    apply()
    // The data of a running request may be older: apply the change again after it.
    if (pages.isFetching) pendingUpdates.current.push(apply)
  }
  useEffect(() => {
    if (!pages.isFetching) for (const put of pendingUpdates.current.splice(0)) put()
  }, [pages.isFetching])
  const rows = (pages.data?.pages ?? []).flatMap(page => page.data)
  return {
    ...pages,
    ...useKeptError(pages, queryKey),
    rows,
    droppedRowCount: droppedRowCount(pages.data),
    rewind,
    refresh,
    update,
  }
}

export type PagedRead<R> = {
  rows: R[]
  isPending: boolean
  isPlaceholderData: boolean
  error: Error | null
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage(): unknown
  refetch(): unknown
  /** For long lists; see `useReadPages`. */
  rewind?(): void
  /** The number of rows before the first one that is held. */
  droppedRowCount?: number
  isFetchingPreviousPage?: boolean
  fetchPreviousPage?(): unknown
}

/**
 * An action that changes data, and the paths whose responses are outdated then:
 *
 *     const revoke = useAction((api, id: string) => api.delete('/api/v2/api-keys/{keyId}', { path: { keyId: id } }),
 *       { changes: ['/api/v2/api-keys'] })
 *
 * `mutate` does nothing while the same action with the same input is running, as for a double click. Its `onError` is
 * called also when the component is gone, but not after a sign-out.
 */
export function useAction<I, R>(
  run: (api: Posthorn, input: I) => Promise<R>,
  options: { changes?: readonly string[]; onDone?: (result: R, input: I) => void } = {},
) {
  const { api, identity } = useApiContext()
  const invalidate = useInvalidate()
  const running = useRef(new Set<string>()).current
  const action = useMutation<R, Error, I>({
    async mutationFn(input) {
      const result = await run(api, input)
      // Not as the library's `onSuccess`, which is that of the last render: by then the page may show another person.
      options.onDone?.(result, input)
      return result
    },
    // Also after an error: the action may have been done, or failed since the data shown is outdated.
    onSettled(_result, _error, input) {
      running.delete(inputKey(input))
      invalidate(options.changes ?? [])
    },
  })
  function mutate(input: I, { onError }: { onError?: (error: Error) => void } = {}): void {
    const words = inputKey(input)
    if (running.has(words)) return
    running.add(words)
    // Not by the options of the library's `mutate`, which it drops with the component.
    action.mutateAsync(input).catch(error => {
      if (identity().csrfToken !== null) onError?.(error)
    })
  }
  return { ...action, mutate }
}

/** The identity of an input. */
function inputKey(input: unknown): string {
  return JSON.stringify(input) ?? ''
}

/**
 * Reads again everything up to now. If a read is running, which may have older data, it reads after it and
 * does not cancel it: otherwise there would be no result while changes come faster than responses. It reads
 * nothing that was refused.
 */
export function useReadAgain({
  isFetching,
  error,
  refetch,
}: {
  isFetching: boolean
  error: Error | null
  refetch(): unknown
}): () => void {
  const isRefetchWaiting = useRef(false)
  useEffect(() => {
    if (isFetching || !isRefetchWaiting.current) return
    isRefetchWaiting.current = false
    if (!isRefusal(error)) refetch()
  }, [isFetching, error, refetch])
  return () => {
    if (isFetching) isRefetchWaiting.current = true
    else if (!isRefusal(error)) refetch()
  }
}

/** Invalidates everything that was read from these paths and below, also in the other tabs. */
export function useInvalidate(): (paths: readonly string[]) => void {
  const { tabs } = useApiContext()
  const client = useQueryClient()
  return paths => {
    invalidate(client, paths)
    tabs.post({ kind: 'changed', paths })
  }
}

function isShort(data: InfiniteData<unknown, unknown> | undefined): boolean {
  return (data?.pages.length ?? 0) <= MAX_LIVE_PAGES
}

function firstOf<T, P>(data: InfiniteData<T, P>): InfiniteData<T, P> {
  return { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) }
}

/** The cache key includes the account and the mode. */
function useKey(path: string, init: unknown, inBothModes = false): readonly unknown[] {
  const { accountId, mode } = useApiContext().identity()
  const scope = inBothModes ? accountId : `${accountId} ${mode}`
  return [path, init ?? null, path.startsWith('/api/v2') ? scope : null]
}

function read<P extends ReadPath>(api: Posthorn, path: P, init: ReadInit<P>): Promise<Answer<P, 'get'>> {
  const { query } = init as { query?: Record<string, unknown> }
  return api.get(path as never, { ...init, ...(query && { query: queryNow(query) }) } as never) as Promise<
    Answer<P, 'get'>
  >
}

async function readExactly<P extends ReadPath>(api: Posthorn, path: P, init: ReadInit<P>) {
  const text = await read(api, path, { ...init, parseAs: 'text' } as ReadInit<P>)
  try {
    return parseExactly(text as string) as Answer<P, 'get'>
  } catch (cause) {
    throw new PosthornUnreachable('The answer does not come from Posthorn.', 200, cause)
  }
}

function withoutEmpty(query: PagedQuery): PagedQuery {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined && value !== ''))
}
