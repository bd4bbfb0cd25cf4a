import type { ChannelOrder } from '../../contract/verification.ts'
import { DatabaseUnavailable } from '../../infra/db.ts'
import type { Ids, MessageId } from '../../lib/ids.ts'
import type { AcceptMessage } from '../messages/accept-message.ts'
import { type FirstWordDeps, hearFirst, type Told } from '../messages/first-word.ts'
import type { AcceptRow, KeyClaim } from '../messages/hot-store.ts'
import type { Prepared } from '../messages/prepare.ts'

/** How a code goes out: at least one way, the first of them the one that routing likes best. */
export type Ways = {
  first: Prepared
  others: readonly Prepared[]
  /** How the order of the first one's channels was learned; null where it was not asked for. */
  order: ChannelOrder | null
}

export type CarryDeps = FirstWordDeps & { ids: Ids; acceptMessage: AcceptMessage }

/** A code on its way: what its messages will have been told. */
export type Carried = {
  told(): Promise<Told[]>
  /** It was accepted beyond its recipient's turns, which are only watched. */
  watched: boolean
}

/** How the first message of a code is stored. */
export type Carriage<Verdict> = {
  /** With what it belongs to; `messages` are all that are to carry the code. */
  add(row: AcceptRow, messages: readonly MessageId[]): Promise<Verdict>
  /** Frees the key, which a way that nothing covers has taken with it. */
  freeKey(): Promise<void>
}

/**
 * Accepts the messages that carry one code. The first is accepted together with
 * its verification, by `store.add`; the others follow as
 * ordinary sends, each of which pays for itself and fails alone. Where nothing
 * covers the first, the next one comes first; the last verdict is given back.
 */
export async function carry<Verdict extends { kind: string }>(
  id: MessageId,
  { first, others }: Pick<Ways, 'first' | 'others'>,
  claim: KeyClaim | null,
  store: Carriage<Verdict>,
  deps: CarryDeps,
): Promise<Carried | Verdict> {
  const messages = [id, ...others.map(() => deps.ids.next('msg'))]
  const word = deps.waiters.wait(id, claim)
  let verdict: Verdict | null = null
  try {
    verdict = await deps.acceptMessage(id, first, claim, row => store.add(row, messages))
  } finally {
    if (verdict?.kind !== 'accepted') deps.waiters.forget(id)
  }
  const [next, ...rest] = others
  if (verdict.kind === 'insufficient' && next) {
    if (claim) await store.freeKey()
    return carry(id, { first: next, others: rest }, claim, store, deps)
  }
  if (verdict.kind !== 'accepted') return verdict
  const further = others.map((way, at) => carryAlso(messages[at + 1]!, way, claim, deps))
  return {
    watched: 'watched' in verdict,
    async told() {
      const own = hearFirst(deps, id, first, claim, word)
      if (further.length === 0) return [await own]
      return (await Promise.all([own, ...further])).filter(each => each !== null)
    },
  }
}

/** Null where nothing covers it, or the store would not take it: the code is on its way by another channel. */
async function carryAlso(
  id: MessageId,
  prepared: Prepared,
  claim: KeyClaim | null,
  deps: CarryDeps,
): Promise<Told | null> {
  const word = deps.waiters.wait(id, null)
  try {
    const verdict = await deps.acceptMessage(id, prepared, null)
    // It has no key of its own; but what is told of it is part of an answer that has one.
    if (verdict.kind === 'accepted') return await hearFirst(deps, id, prepared, claim, word)
  } catch (error) {
    // Not confirmed, and so not sent.
    if (!(error instanceof DatabaseUnavailable)) throw error
  }
  deps.waiters.forget(id)
  return null
}

export function isCarried<Verdict>(carried: Carried | Verdict): carried is Carried {
  return typeof carried === 'object' && carried !== null && 'told' in carried
}
