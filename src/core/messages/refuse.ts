import type { Problem } from '../../contract/errors.ts'
import { SANDBOX } from '../../contract/sandbox.ts'
import type { AccountId, MessageId } from '../../lib/ids.ts'
import { type Answer, problemAnswer } from './answers.ts'
import type { KeyClaim } from './hot-store.ts'
import { type Idempotency, isDecision } from './idempotency.ts'
import type { StoredKey } from './idempotency-store.ts'

/** A request that is refused before anything is accepted. */
export type Refused = {
  problem: Problem
  /** Of the message that it would have become. */
  id: MessageId
  accountId: AccountId
  claim: KeyClaim | null
  /** The provider whose own word this is. */
  saidBy: string | null
}

/**
 * The answer to a refused request, be it a send, a batch or a verification. With an idempotency key, the refusal is
 * stored under the key first. If the key has an answer already, `replay` gives that answer instead.
 */
export async function refuseOnce(
  { problem, id, accountId, claim, saidBy }: Refused,
  idempotency: Idempotency,
  replay: (existing: StoredKey, claim: KeyClaim) => Promise<Answer>,
): Promise<Answer> {
  const answer = { ...problemAnswer(problem, id), sandbox: saidBy === SANDBOX }
  if (!claim) return answer
  // An earlier answer under the key stands, even where the same request would be refused now.
  const existing = isDecision(problem)
    ? await idempotency.storeRefusal(accountId, claim, answer)
    : await idempotency.find(accountId, claim)
  if (!existing) return answer
  const told = await replay(existing, claim)
  // A stored refusal does not say whose word it was; this request has just heard the same one.
  return told.replayed && answer.sandbox ? { ...told, sandbox: true } : told
}
