import type { TemplateEventData } from '../../contract/template.ts'
import type { EventType } from '../../contract/webhook.ts'
import type { Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import { insertEvent } from '../callbacks/event-store.ts'
import type { ReviewState, TemplateRow } from './store.ts'

type Subject = Pick<TemplateRow, 'id' | 'accountId' | 'name' | 'language' | 'category'>

/** Stores the event of an official template's new state, within the transaction that changes it. */
export type PublishTemplateEvent = (
  tx: Db,
  template: Subject,
  now: ReviewState,
  change: { from: ReviewState | null; drift: boolean },
) => Promise<void>

export function createTemplateEventPublisher({
  clock,
  ids,
}: {
  clock: Clock
  ids: Ids
}): PublishTemplateEvent {
  return async (tx, template, { status, reason, subType }, { from, drift }) => {
    // The platform has no webhooks, and `active` templates are not official.
    if (template.accountId === PLATFORM || status === 'active') return
    const data: TemplateEventData = {
      templateId: template.id,
      name: template.name,
      language: template.language || null,
      category: template.category,
      subType,
      previousSubType: from?.subType ?? null,
      status,
      previousStatus: from?.status ?? null,
      reason,
      drift,
    }
    await insertEvent(tx, {
      accountId: template.accountId,
      id: ids.next('evt'),
      type: `template.${status}` satisfies EventType,
      atMs: clock.now(),
      data,
    })
  }
}
