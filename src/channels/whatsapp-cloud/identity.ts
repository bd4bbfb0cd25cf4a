import type { OfficialIdentity } from '../provider.ts'
import { textOf, withPlus } from './fields.ts'
import { callGraph, type Graph, type GraphResult, graphRequest } from './graph.ts'

const FIELDS = ['display_phone_number', 'verified_name', 'quality_rating', 'status']
/** The field's name depends on the version of Graph, which refuses requests for unknown fields: tried in this order. */
const LIMIT_FIELDS = ['whatsapp_business_manager_messaging_limit', 'messaging_limit_tier'] as const

/** The number as WhatsApp knows it. Throws where it cannot be read. */
export async function readIdentity(
  graph: Graph,
  phoneNumberId: string,
  signal: AbortSignal,
): Promise<OfficialIdentity> {
  for (const limit of LIMIT_FIELDS) {
    const asked = await ask([...FIELDS, limit])
    if (asked.kind === 'answer') return identityOf(asked.body, asked.body[limit])
    if (asked.kind === 'unavailable') throw new Error(asked.detail)
  }
  const asked = await ask(FIELDS)
  if (asked.kind === 'answer') return identityOf(asked.body, null)
  throw new Error(asked.kind === 'refused' ? `WhatsApp refuses: ${asked.error.text}` : asked.detail)

  function ask(fields: readonly string[]): Promise<GraphResult> {
    return callGraph(graph, graphRequest(graph, `${phoneNumberId}?fields=${fields.join(',')}`), signal)
  }
}

function identityOf(said: Record<string, unknown>, limit: unknown): OfficialIdentity {
  const shown = said['display_phone_number']
  return {
    phoneNumber: typeof shown === 'string' && /\d{5}/.test(shown.replace(/\D/g, '')) ? withPlus(shown) : null,
    displayName: shortOf(said['verified_name']) ?? '',
    qualityRating: shortOf(said['quality_rating']),
    messagingLimit: shortOf(limit),
    status: shortOf(said['status']),
  }
}

function shortOf(value: unknown): string | null {
  return textOf(value)?.slice(0, 200) ?? null
}
