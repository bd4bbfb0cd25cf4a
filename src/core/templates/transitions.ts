import type { TemplateState } from '../../channels/provider.ts'
import type { TemplateStatus } from '../../contract/template.ts'

/**
 * What the provider's word makes of an official template (docs/states.md). What
 * is pending is decided once; what was approved may be stopped and let go again.
 * A word that leads nowhere from here, such as a late `pending`, changes nothing.
 */
const MOVES: Record<TemplateStatus, readonly TemplateState['status'][]> = {
  // A pause straight from pending: the approval itself was missed.
  pending: ['approved', 'rejected', 'disabled'],
  approved: ['disabled'],
  disabled: ['approved'],
  // An appeal was heard.
  rejected: ['approved'],
  active: [],
}

/** The status after the provider's word, or null where it stays as it is. */
export function statusAfter(
  current: TemplateStatus,
  told: Pick<TemplateState, 'status'>,
): TemplateStatus | null {
  // What was approved and is now refused is stopped, whatever the provider calls that.
  const status = told.status === 'rejected' && current === 'approved' ? 'disabled' : told.status
  return MOVES[current].includes(status) ? status : null
}

/** What a message may be sent by. */
export function isUsable(status: TemplateStatus): boolean {
  return status === 'active' || status === 'approved'
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/**
 * When a template is looked at next, in ms since the epoch. Webhooks are faster;
 * looking finds what they missed. One that waits is asked after as long as half
 * the time that it has waited.
 */
export function nextCheckAt(status: TemplateStatus, createdAtMs: number, nowMs: number): number {
  if (status !== 'pending') return nowMs + HOUR_MS
  const waitedMs = Math.max(0, nowMs - createdAtMs)
  return nowMs + Math.min(Math.max(waitedMs / 2, 5 * SECOND_MS), 15 * MINUTE_MS)
}
