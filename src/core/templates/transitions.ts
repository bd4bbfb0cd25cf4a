import type { TemplateState, TemplateWord } from '../../channels/provider.ts'
import type { TemplateStatus, TemplateSubType } from '../../contract/template.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/durations.ts'

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
  told: Pick<TemplateWord, 'status'>,
): TemplateStatus | null {
  if (told.status === null) return null
  // What was approved and is now refused is stopped, whatever the provider calls that.
  const status = told.status === 'rejected' && current === 'approved' ? 'disabled' : told.status
  return MOVES[current].includes(status) ? status : null
}

/**
 * What the provider made of a template, or null where it stays what it is. A code's has words and values of
 * its own, and `free` is a kind that no provider knows: those stay.
 */
export function subTypeAfter(
  current: TemplateSubType,
  { subType }: Pick<TemplateWord, 'subType'>,
): TemplateSubType | null {
  const follows = current === 'utility' || current === 'marketing'
  return follows && subType !== undefined && subType !== current ? subType : null
}

/** What a message may be sent by. */
export function isUsable(status: TemplateStatus): boolean {
  return status === 'active' || status === 'approved'
}

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
