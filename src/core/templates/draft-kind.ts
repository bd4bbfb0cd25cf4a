import type { Faults } from '../../contract/faults.ts'
import type { TemplateProvider } from '../../contract/template.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'

/** The provider of a template; whether it is official; whether it is bound to an existing one (`manual`). */
export type TemplateKind = { provider: TemplateProvider; official: boolean; manual: boolean }

/** The providers of each category, the default first. */
const PROVIDERS: Record<TemplateCreate['category'], readonly TemplateProvider[]> = {
  chatapp: ['official_provider', 'user_session'],
  message: ['internal', 'user_session'],
  sms: ['internal'],
  email: ['internal'],
}

/** Reads category, provider, templateTarget and creationMode; adds faults for contradictions. */
export function readKind(body: TemplateCreate, faults: Faults): TemplateKind {
  const { category, templateTarget } = body
  const supported = PROVIDERS[category]
  const requested = body.provider ?? templateTarget
  if (body.provider !== undefined && templateTarget !== undefined && body.provider !== templateTarget) {
    faults.add('templateTarget', `${templateTarget} contradicts provider ${body.provider}`)
  } else if (requested !== undefined && !supported.includes(requested)) {
    const path = body.provider === undefined ? 'templateTarget' : 'provider'
    faults.add(path, `${requested} does not support category ${category}; ${supported.join(' or ')} does`)
  }
  const provider = requested !== undefined && supported.includes(requested) ? requested : supported[0]!
  const official = provider === 'official_provider'
  const manual = body.creationMode === 'manual_external_id'
  checkBinding(body, official, manual, faults)
  if (!official && body.officialSenderId !== undefined) {
    faults.add('officialSenderId', `is only for official templates, not for provider ${provider}`)
  }
  return { provider, official, manual }
}

function checkBinding(body: TemplateCreate, official: boolean, manual: boolean, faults: Faults): void {
  if (!manual) {
    for (const field of ['providerTemplateId', 'manualVariableCount'] as const) {
      if (body[field] !== undefined) faults.add(field, 'is only for creationMode manual_external_id')
    }
    return
  }
  if (!official) faults.add('creationMode', 'manual_external_id is only for official templates')
  if (body.providerTemplateId === undefined) {
    faults.add('providerTemplateId', 'is required with creationMode manual_external_id')
  }
}
