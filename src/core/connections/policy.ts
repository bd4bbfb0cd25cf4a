import type { ProviderPolicy } from '../../channels/provider.ts'
import { MESSAGE_TYPES, type MessageType, type SendMode } from '../../contract/enums.ts'
import type { Faults } from '../../contract/faults.ts'

/** What a connection allows: at most what its provider allows. */
export type ConnectionPolicy = {
  allowedTypes: MessageType[]
  sendModeByType: Partial<Record<MessageType, SendMode>>
}

/** The operator's input; absent fields stay. */
export type PolicyInput = {
  allowedTypes?: readonly MessageType[] | undefined
  sendModeByType?: Partial<Record<MessageType, SendMode>> | undefined
}

export function policyOf({ allowedTypes, sendModeByType }: ProviderPolicy): ConnectionPolicy {
  return { allowedTypes: [...allowedTypes], sendModeByType: { ...sendModeByType } }
}

/** `before` with the input applied over it. Types are in the contract's order, without repetition. */
export function changePolicy(
  before: ConnectionPolicy,
  given: PolicyInput,
  provider: { key: string; policy: ProviderPolicy },
  faults: Faults,
): ConnectionPolicy {
  checkTypes(given.allowedTypes ?? [], provider, faults)
  checkModes(given.sendModeByType ?? {}, provider, faults)
  const { allowedTypes: types } = given
  return {
    allowedTypes: types ? MESSAGE_TYPES.filter(type => types.includes(type)) : before.allowedTypes,
    sendModeByType: { ...before.sendModeByType, ...given.sendModeByType },
  }
}

function checkTypes(
  types: readonly MessageType[],
  { key, policy }: { key: string; policy: ProviderPolicy },
  faults: Faults,
): void {
  types.forEach((type, at) => {
    if (!policy.allowedTypes.includes(type))
      faults.add(`allowedTypes[${at}]`, `${key} supports only ${policy.allowedTypes.join(', ')}`)
  })
}

/** An operator may forbid templates where the provider allows them, but not allow them where it does not. */
function checkModes(
  modes: NonNullable<PolicyInput['sendModeByType']>,
  { key, policy }: { key: string; policy: ProviderPolicy },
  faults: Faults,
): void {
  for (const [type, mode] of Object.entries(modes)) {
    const most = policy.sendModeByType[type as MessageType]
    if (most === undefined) faults.add(`sendModeByType.${type}`, `${key} does not support ${type}`)
    else if (mode === 'template_optional' && most === 'plain_text')
      faults.add(`sendModeByType.${type}`, `${key} supports ${type} only as plain_text`)
  }
}
