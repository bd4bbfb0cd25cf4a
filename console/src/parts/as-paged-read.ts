import type { PagedRead } from '../api/use-read.ts'

type UnpagedRead = {
  isPending: boolean
  isPlaceholderData?: boolean
  error: Error | null
  refetch(): unknown
}

/** Adapts an API list without pages for `DataList`. */
export function asPagedRead<R>(rows: readonly R[] | undefined, read: UnpagedRead): PagedRead<R> {
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
