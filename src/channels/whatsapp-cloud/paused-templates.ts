import { createLru } from '../../lib/lru.ts'
import type { Inbound, Io, Outgoing, StoredTemplateRef, TemplateUpdate } from '../provider.ts'
import { meaningOf } from './codes.ts'

/** Every message by a paused template is refused: the template's state is reported once in this time. */
const REPORT_EVERY_MS = 60_000
const MAX_TEMPLATES = 1_000
/** Sends of this node that are remembered, because a status may still show that their template was paused. */
const MAX_ATTEMPTS = 10_000

const NO_TEMPLATE: StoredTemplateRef = { name: '', language: '', providerTemplateId: null }

/**
 * Reports that a template was paused or disabled as soon as a refusal of a message shows it, in the answer or
 * by a status, rather than at the template's next poll.
 */
export function createPausedTemplates(io: Io) {
  const sent = createLru<string, StoredTemplateRef>(MAX_ATTEMPTS)
  const reportedAtMs = createLru<string, number>(MAX_TEMPLATES)

  /** Null where it was reported a moment ago, or the attempt's template is not known. */
  function updateOf(attemptId: string, reason: string | null): TemplateUpdate | null {
    const { providerTemplateId, name, language } = sent.get(attemptId) ?? NO_TEMPLATE
    if (providerTemplateId === null) return null
    const key = `${language} ${name}`
    const nowMs = io.clock.monotonic()
    if (nowMs - (reportedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < REPORT_EVERY_MS) return null
    reportedAtMs.set(key, nowMs)
    const state = { providerTemplateId, name, language, status: 'disabled', reason } as const
    return { kind: 'template', eventId: `refused:${attemptId}`, state }
  }

  return {
    /** Called before the send: statuses name only the attempt, not the template. */
    remember({ attemptId, template }: Outgoing): void {
      if (!template) return
      const { name, language, providerTemplateId } = template
      sent.set(attemptId, { name, language, providerTemplateId })
    },

    report(attemptId: string, reason: string | null): void {
      const update = updateOf(attemptId, reason)
      if (!update) return
      io.emit([update]).catch(error =>
        io.log.warn(
          { err: error },
          'whatsapp-cloud: the update of a paused template could not be stored; the next poll reports it',
        ),
      )
    },

    /** The template update that follows from a status, if any. */
    updatesFrom(inbound: Inbound): TemplateUpdate[] {
      if (inbound.kind !== 'receipt' || !inbound.attemptId || !inbound.providerCode) return []
      if (meaningOf(inbound.providerCode)?.means !== 'template') return []
      const update = updateOf(inbound.attemptId, inbound.detail ?? null)
      return update ? [update] : []
    },
  }
}
