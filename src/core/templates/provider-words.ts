import type { TemplateWord } from '../../channels/provider.ts'
import { storable } from '../../lib/storable.ts'

/** More than any provider's id of a template has, and any word of its own on one is worth. */
const LONGEST_ID = 200
const LONGEST_REASON = 500

/** What the store cannot hold would be told again and again, and never be stored. */
export function storableWord<Word extends TemplateWord>(word: Word): Word {
  const { providerTemplateId, name, language, reason } = word
  return {
    ...word,
    providerTemplateId: storable(providerTemplateId, LONGEST_ID),
    name: storable(name),
    language: storable(language),
    reason: reason === null ? null : storable(reason, LONGEST_REASON),
  }
}
