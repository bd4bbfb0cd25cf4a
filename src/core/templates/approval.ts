import type { TemplateOutcome, TemplateState } from '../../channels/provider.ts'
import { invalid } from '../../contract/errors.ts'
import type { TemplateStatus, TemplateSubType } from '../../contract/template.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { TemplateMedia } from './header-file.ts'
import { type Line, providerNameOf } from './lines.ts'
import { type Approvers, approverUnavailable } from './official.ts'
import { toOfficial } from './official-form.ts'
import { selectOfficial } from './official-store.ts'
import type { TemplateDraft } from './spec.ts'
import { subTypeAfter } from './transitions.ts'

/** The state of an official template at its provider, and its name there. */
type Found = {
  status: TemplateStatus
  reason: string | null
  /** The provider may choose another one than was requested. */
  subType: TemplateSubType
  providerName: string
  providerTemplateId: string | null
}

/**
 * Submits an official template to its provider, or finds the existing one that it is to be bound to. Throws
 * a 400 with the provider's explanation, and PROVIDER_UNAVAILABLE.
 */
export type Approve = (accountId: AccountId, draft: TemplateDraft, line: Line) => Promise<Found>

export type ApprovalDeps = { db: Db; approvers: Approvers; media: Pick<TemplateMedia, 'outgoing'> }

export function createApproval({ db, approvers, media }: ApprovalDeps): Approve {
  async function submit(draft: TemplateDraft, line: Line, providerName: string): Promise<Found> {
    const outcome = await approvers.submit(line.connectionId, toOfficial(draft, providerName, media.outgoing))
    return { ...readOutcome(outcome, draft), providerName }
  }

  /** Finds an existing template by the provider's id; its name there may differ. */
  async function bind(accountId: AccountId, draft: TemplateDraft, line: Line): Promise<Found> {
    const providerTemplateId = draft.providerTemplateId!
    if (line.sandbox) {
      // The sandbox has no templates of its own, so one to bind to is created there.
      return { ...(await submit(draft, line, draft.name)), providerTemplateId }
    }
    const word = await approvers.find(line.connectionId, providerTemplateId)
    if (word.kind === 'unasked') throw approverUnavailable('the template could not be looked up there')
    if (word.kind === 'unknown' || (await isAnothers(accountId, line, word.state))) {
      throw invalid('providerTemplateId', 'the provider has no template with this id')
    }
    const { name: providerName, language } = word.state
    if (language !== draft.language) {
      throw invalid('language', `must be ${language}, the language of the template at the provider`)
    }
    return { ...standing(word.state, draft), providerName, providerTemplateId }
  }

  /** Whether the template belongs to another account that uses the same shared number. */
  async function isAnothers(
    accountId: AccountId,
    line: Line,
    { name, language }: TemplateState,
  ): Promise<boolean> {
    const known = await selectOfficial(db, line.connectionId, name, language)
    const others = known.filter(each => each.accountId !== accountId && each.accountId !== PLATFORM)
    return others.some(each => providerNameOf(each.name, each.accountId, line) === name)
  }

  return (accountId, draft, line) =>
    draft.spec.manual
      ? bind(accountId, draft, line)
      : submit(draft, line, providerNameOf(draft.name, accountId, line))
}

function standing(state: TemplateState, { subType }: TemplateDraft) {
  return { status: state.status, reason: state.reason, subType: subTypeAfter(subType, state) ?? subType }
}

function readOutcome(outcome: TemplateOutcome | null, draft: TemplateDraft): Omit<Found, 'providerName'> {
  switch (outcome?.kind) {
    case 'submitted':
      return {
        ...standing(outcome.state, draft),
        providerTemplateId: outcome.state.providerTemplateId || null,
      }
    case 'refused':
      throw invalid(outcome.path ?? 'body', `the provider refuses the template: ${outcome.detail}`)
    case 'unavailable':
      throw approverUnavailable(outcome.detail)
    case undefined:
      throw invalid('officialSenderId', 'the provider of this sender does not support templates')
  }
}
