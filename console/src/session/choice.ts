import type { Mode, Session } from './session.ts'

/** The current account and mode: each tab has its own, and a new one begins with that of the last used tab. */
export type Choice = { accountId: string | null; mode: Mode }

const KEY = 'posthorn-choice'

export function loadChoice(): Choice {
  try {
    const kept = JSON.parse(
      sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? '{}',
    ) as Partial<Choice>
    return { accountId: kept.accountId ?? null, mode: kept.mode === 'live' ? 'live' : 'test' }
  } catch {
    return { accountId: null, mode: 'test' }
  }
}

export function saveChoice(choice: Choice): void {
  try {
    for (const storage of [sessionStorage, localStorage]) storage.setItem(KEY, JSON.stringify(choice))
  } catch {
    // Storage is not available: the choice is not kept.
  }
}

/** The chosen account if the person is a member, otherwise their first one. */
export function resolveChoice(choice: Choice, { memberships }: Session): Choice {
  const ids = memberships.map(({ account }) => account.id)
  const accountId =
    choice.accountId !== null && ids.includes(choice.accountId) ? choice.accountId : (ids[0] ?? null)
  return { ...choice, accountId }
}
