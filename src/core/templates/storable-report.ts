import type { TemplateChange } from '../../channels/provider.ts'
import { toStorableText } from '../../lib/storable.ts'

/** Longer than any provider's template id; longer reasons are cut. */
const LONGEST_ID = 200
const LONGEST_REASON = 500

/** A report in a form that can be stored; else storing it would fail, and the provider would send it again and again. */
export function storableReport<Report extends TemplateChange>(report: Report): Report {
  const { providerTemplateId, name, language, reason } = report
  return {
    ...report,
    providerTemplateId: toStorableText(providerTemplateId, LONGEST_ID),
    name: toStorableText(name),
    language: toStorableText(language),
    reason: reason === null ? null : toStorableText(reason, LONGEST_REASON),
  }
}
