import { createLru } from '../../lib/lru.ts'
import type { Inbound, Io, Outgoing, OutgoingTemplate, TemplateUpdate } from '../provider.ts'
import { meaningOf } from './codes.ts'

/** A template that is paused refuses every message by it: told once in this time. */
const TELL_TEMPLATE_EVERY_MS = 60_000
const MOST_TEMPLATES = 1_000
/** Sends of which a status may still say so, by this node's own. */
const MOST_ATTEMPTS = 10_000

/** Which template, and nothing of what was said by it. */
type Named = Pick<OutgoingTemplate, 'name' | 'language' | 'providerTemplateId'>
const NAMELESS: Named = { name: '', language: '', providerTemplateId: null }

/**
 * Finds that a template is of no use any more as soon as a refusal of a message says so, at once or
 * by a status, rather than when the template is next looked at.
 */
export function createStoppedTemplates(io: Io) {
  const sent = createLru<string, Named>(MOST_ATTEMPTS)
  const told = createLru<string, number>(MOST_TEMPLATES)

  /** Null for what was told a moment ago, or is not known. */
  function updateOf(attemptId: string, reason: string | null): TemplateUpdate | null {
    const { providerTemplateId, name, language } = sent.get(attemptId) ?? NAMELESS
    if (providerTemplateId === null) return null
    const key = `${language} ${name}`
    const nowMs = io.clock.now()
    if (nowMs - (told.get(key) ?? 0) < TELL_TEMPLATE_EVERY_MS) return null
    told.set(key, nowMs)
    const state = { providerTemplateId, name, language, status: 'disabled', reason } as const
    return { kind: 'template', eventId: `refused:${attemptId}`, state }
  }

  return {
    /** Before it is sent: statuses name the attempt alone. */
    remember({ attemptId, template }: Outgoing): void {
      if (!template) return
      const { name, language, providerTemplateId } = template
      sent.set(attemptId, { name, language, providerTemplateId })
    },

    tell(attemptId: string, reason: string | null): void {
      const update = updateOf(attemptId, reason)
      if (!update) return
      io.emit([update]).catch(error =>
        io.log.warn({ err: error }, 'whatsapp-cloud: a paused template could not be told; it is polled'),
      )
    },

    /** What a status tells of the template beside its message. */
    toldBy(inbound: Inbound): TemplateUpdate[] {
      if (inbound.kind !== 'receipt' || !inbound.attemptId || !inbound.providerCode) return []
      if (meaningOf(inbound.providerCode)?.means !== 'template') return []
      const update = updateOf(inbound.attemptId, inbound.detail ?? null)
      return update ? [update] : []
    },
  }
}
