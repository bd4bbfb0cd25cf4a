import type { PagedRead } from '../api/use-read.ts'

type Whole = { isPending: boolean; isPlaceholderData?: boolean; error: Error | null; refetch(): unknown }

/** Adapts an API list without pages for `DataList`. */
export function wholeList<R>(rows: readonly R[] | undefined, read: Whole): PagedRead<R> {
  return {
    rows: [...(rows ?? [])],
    isPending: read.isPending,
    isPlaceholderData: read.isPlaceholderData ?? false,
    error: read.error,
    hasNextPage: false,
    isFetchingNextPage: false,
    fetchNextPage: () => {},
    refetch: () => read.refetch(),
  }
}
