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
  /** The id that its message would have had. */
  id: MessageId
  accountId: AccountId
  claim: KeyClaim | null
  /** The provider that refused it; null if Posthorn did. */
  refusedBy: string | null
}

/**
 * The answer to a refused request, be it a send, a batch or a verification. With an idempotency key, the refusal is
 * stored under the key first. If the key has an answer already, `replay` gives that answer instead.
 */
export async function refuseOnce(
  { problem, id, accountId, claim, refusedBy }: Refused,
  idempotency: Idempotency,
  replay: (existing: StoredKey, claim: KeyClaim) => Promise<Answer>,
): Promise<Answer> {
  const answer = { ...problemAnswer(problem, id), sandbox: refusedBy === SANDBOX }
  if (!claim) return answer
  // An earlier answer under the key takes precedence, even if the request would be refused now.
  const existing = isDecision(problem)
    ? await idempotency.storeRefusal(accountId, claim, answer)
    : await idempotency.find(accountId, claim)
  if (!existing) return answer
  const replayed = await replay(existing, claim)
  // A stored refusal has no provider; this request was just refused by the sandbox in the same way.
  return answer.sandbox && isSameRefusal(replayed, problem) ? { ...replayed, sandbox: true } : replayed
}

/** Whether a replay repeats this refusal, and not another answer that the key got when its request was not refused so. */
function isSameRefusal({ replayed, status, body }: Answer, problem: Problem): boolean {
  if (!replayed || status !== problem.status) return false
  return (JSON.parse(body) as { code?: unknown }).code === problem.code
}
