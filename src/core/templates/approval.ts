import type { TemplateOutcome, TemplateState } from '../../channels/provider.ts'
import { invalid } from '../../contract/errors.ts'
import type { TemplateStatus, TemplateSubType } from '../../contract/template.ts'
import type { Db } from '../../infra/db.ts'
import type { AccountId } from '../../lib/ids.ts'
import { PLATFORM } from '../accounts/platform.ts'
import type { TemplateMedia } from './header-file.ts'
import { type OfficialConnection, providerNameOf } from './official-connection.ts'
import { selectOfficial } from './official-store.ts'
import { toOfficialTemplate } from './official-template.ts'
import { type ProviderTemplates, providerUnavailable } from './provider-templates.ts'
import type { TemplateDraft } from './spec.ts'
import { subTypeAfter } from './transitions.ts'

/** The state of an official template at its provider, and its name there. */
type ApprovalResult = {
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
export type Approve = (
  accountId: AccountId,
  draft: TemplateDraft,
  connection: OfficialConnection,
) => Promise<ApprovalResult>

export type ApprovalDeps = {
  db: Db
  providerTemplates: ProviderTemplates
  media: Pick<TemplateMedia, 'outgoing'>
}

export function createApproval({ db, providerTemplates, media }: ApprovalDeps): Approve {
  async function submit(
    draft: TemplateDraft,
    connection: OfficialConnection,
    providerName: string,
  ): Promise<ApprovalResult> {
    const outcome = await providerTemplates.submit(
      connection.connectionId,
      toOfficialTemplate(draft, providerName, media.outgoing),
    )
    return { ...readOutcome(outcome, draft), providerName }
  }

  /** Finds an existing template by the provider's id; its name there may differ. */
  async function bind(
    accountId: AccountId,
    draft: TemplateDraft,
    connection: OfficialConnection,
  ): Promise<ApprovalResult> {
    const providerTemplateId = draft.providerTemplateId!
    if (connection.sandbox) {
      // The sandbox has no templates of its own, so one to bind to is created there.
      return { ...(await submit(draft, connection, draft.name)), providerTemplateId }
    }
    const lookup = await providerTemplates.find(connection.connectionId, providerTemplateId)
    if (lookup.kind === 'unanswered') throw providerUnavailable('the template could not be looked up there')
    if (lookup.kind === 'unknown' || (await belongsToOther(accountId, connection, lookup.state))) {
      throw invalid('providerTemplateId', 'the provider has no template with this id')
    }
    const { name: providerName, language } = lookup.state
    if (language !== draft.language) {
      throw invalid('language', `must be ${language}, the language of the template at the provider`)
    }
    return { ...reviewStateOf(lookup.state, draft), providerName, providerTemplateId }
  }

  /** Whether the template belongs to another account that uses the same shared number. */
  async function belongsToOther(
    accountId: AccountId,
    connection: OfficialConnection,
    { name, language }: TemplateState,
  ): Promise<boolean> {
    const known = await selectOfficial(db, connection.connectionId, name, language)
    const others = known.filter(each => each.accountId !== accountId && each.accountId !== PLATFORM)
    return others.some(each => providerNameOf(each.name, each.accountId, connection) === name)
  }

  return (accountId, draft, line) =>
    draft.spec.manual
      ? bind(accountId, draft, line)
      : submit(draft, line, providerNameOf(draft.name, accountId, line))
}

function reviewStateOf(state: TemplateState, { subType }: TemplateDraft) {
  return { status: state.status, reason: state.reason, subType: subTypeAfter(subType, state) ?? subType }
}

function readOutcome(
  outcome: TemplateOutcome | null,
  draft: TemplateDraft,
): Omit<ApprovalResult, 'providerName'> {
  switch (outcome?.kind) {
    case 'submitted':
      return {
        ...reviewStateOf(outcome.state, draft),
        providerTemplateId: outcome.state.providerTemplateId || null,
      }
    case 'refused':
      throw invalid(outcome.path ?? 'body', `the provider refuses the template: ${outcome.detail}`)
    case 'unavailable':
      throw providerUnavailable(outcome.detail)
    case undefined:
      throw invalid('officialSenderId', 'the provider of this sender does not support templates')
  }
}
