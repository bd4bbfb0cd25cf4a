import type { TemplateChange } from '../../channels/provider.ts'
import { toStorableText } from '../../lib/storable.ts'

/** Longer than any provider's template id; longer reasons are cut. */
const MAX_ID_LENGTH = 200
const MAX_REASON_LENGTH = 500

/** A report in a form that can be stored; else storing it would fail, and the provider would send it again and again. */
export function storableReport<Report extends TemplateChange>(report: Report): Report {
  const { providerTemplateId, name, language, reason } = report
  return {
    ...report,
    providerTemplateId: toStorableText(providerTemplateId, MAX_ID_LENGTH),
    name: toStorableText(name),
    language: toStorableText(language),
    reason: reason === null ? null : toStorableText(reason, MAX_REASON_LENGTH),
  }
}
