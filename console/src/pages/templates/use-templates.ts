import { useEffect, useRef } from 'react'
import type { TemplateView } from '../../../../sdk/index.ts'
import { type PagedRead, useRead, useReadAgain } from '../../api/use-read.ts'
import { kindOf } from './kinds.ts'

export const TEMPLATES = '/api/v2/templates'
/** A waiting template may be decided at any time. */
const POLL_EVERY_MS = 2_000

export type TemplateFilters = { kind?: string; status?: string; subType?: string; search?: string }

/**
 * All templates that the account may see, of every status: without a status filter, the API lists only usable
 * ones.
 */
export function useTemplates(filters: TemplateFilters): PagedRead<TemplateView> & { all: number } {
  const pending = useRead(TEMPLATES, { query: { status: 'pending' } }, { everyMs: POLL_EVERY_MS })
  const usable = useRead(TEMPLATES)
  const rejected = useRead(TEMPLATES, { query: { status: 'rejected' } })
  const disabled = useRead(TEMPLATES, { query: { status: 'disabled' } })
  const readUsable = useReadAgain(usable)
  const readRejected = useReadAgain(rejected)
  const waiting = pending.data?.data.map(({ id }) => id).join(' ')
  const waited = useRef(waiting)
  useEffect(() => {
    const before = waited.current
    waited.current = waiting
    // A template that is no longer pending has moved to another list.
    if (before === undefined || before === waiting) return
    readUsable()
    readRejected()
  })
  const reads = [usable, pending, rejected, disabled]
  const all = [...new Map(reads.flatMap(read => read.data?.data ?? []).map(row => [row.id, row])).values()]
  return {
    rows: all.filter(template => fits(template, filters)).toSorted(newestFirst),
    all: all.length,
    isPending: reads.some(read => read.isPending),
    isPlaceholderData: false,
    error: reads.find(read => read.error)?.error ?? null,
    hasNextPage: false,
    isFetchingNextPage: false,
    fetchNextPage: () => {},
    refetch: () => Promise.all(reads.map(read => read.refetch())),
  }
}

function fits(template: TemplateView, { kind, status, subType, search }: TemplateFilters): boolean {
  if (kind !== undefined && kindOf(template) !== kind) return false
  if (status !== undefined && template.status !== status) return false
  if (subType !== undefined && template.subType !== subType) return false
  if (search === undefined) return true
  const words = [template.name, template.body, template.content, template.emailSubject]
    .join('\n')
    .toLowerCase()
  return words.includes(search.toLowerCase())
}

function newestFirst(left: TemplateView, right: TemplateView): number {
  return right.createdAt.localeCompare(left.createdAt)
}
