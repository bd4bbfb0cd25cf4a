import type { TemplateChange, TemplateState } from '../../channels/provider.ts'
import type { TemplateStatus, TemplateSubType } from '../../contract/template.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts'

/**
 * The transitions of an official template by its provider's reports (docs/states.md). A pending
 * template is decided once; an approved one may be disabled and approved again.
 * Reports without a transition, such as a late `pending`, change nothing.
 */
const TRANSITIONS: Record<TemplateStatus, readonly TemplateState['status'][]> = {
  // `disabled` comes here if the report of the approval was missed.
  pending: ['approved', 'rejected', 'disabled'],
  approved: ['disabled'],
  disabled: ['approved'],
  // After an appeal.
  rejected: ['approved'],
  active: [],
}

/** The status after the provider's report; null if it does not change. */
export function statusAfter(
  current: TemplateStatus,
  report: Pick<TemplateChange, 'status'>,
): TemplateStatus | null {
  if (report.status === null) return null
  // A rejection after an approval counts as `disabled`.
  const status = report.status === 'rejected' && current === 'approved' ? 'disabled' : report.status
  return TRANSITIONS[current].includes(status) ? status : null
}

/**
 * The sub type after the provider's report; null if it does not change. Only utility and marketing change:
 * OTP templates have fields of their own, and no provider knows `free`.
 */
export function subTypeAfter(
  current: TemplateSubType,
  { subType }: Pick<TemplateChange, 'subType'>,
): TemplateSubType | null {
  const follows = current === 'utility' || current === 'marketing'
  return follows && subType !== undefined && subType !== current ? subType : null
}

/** Whether messages may use a template with this status. */
export function isUsable(status: TemplateStatus): boolean {
  return status === 'active' || status === 'approved'
}

/**
 * When a template is polled next, in ms since the epoch. Webhooks are faster;
 * polling finds what they missed. A pending template is polled after half the
 * time that it has waited so far, at least 5 s and at most 15 min.
 */
export function nextCheckAt(status: TemplateStatus, createdAtMs: number, nowMs: number): number {
  if (status !== 'pending') return nowMs + HOUR_MS
  const waitedMs = Math.max(0, nowMs - createdAtMs)
  return nowMs + Math.min(Math.max(waitedMs / 2, 5 * SECOND_MS), 15 * MINUTE_MS)
}
