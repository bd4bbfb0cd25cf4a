import { invalid, Problem } from '../../contract/errors.ts'
import type { TemplateStatus } from '../../contract/template.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids } from '../../lib/ids.ts'
import { lockAccount } from '../accounts/store.ts'
import { createApproval } from './approval.ts'
import { draftTemplate } from './draft.ts'
import type { TellTemplate } from './events.ts'
import { dropFetched, readHeaderFile, type TemplateMedia } from './header-file.ts'
import type { Line, TemplateOwner } from './lines.ts'
import type { Approvers } from './official.ts'
import { claimName, dropName } from './official-store.ts'
import { fileOf, saysCodeAlone, type TemplateDraft, type TemplateSpec } from './spec.ts'
import {
  insertTemplate,
  setDefaultTemplate,
  type TemplateRow,
  templateExists,
  weighTemplates,
} from './store.ts'
import { nextCheckAt } from './transitions.ts'

export type CreateTemplateDeps = {
  db: Database
  clock: Clock
  ids: Ids
  media: TemplateMedia
  approvers: Approvers
  tell: TellTemplate
  /** Called after the commit, so that the template can be used on this node at once. */
  applied(accountId: AccountId): void
  /** Throws a 400 for an unknown official sender. */
  lineOf(owner: TemplateOwner, asked: string | undefined): Promise<Line>
}

/**
 * Creates a template. Throws VALIDATION_ERROR, TEMPLATE_EXISTS, CONFLICT at the account's limits, and
 * PROVIDER_UNAVAILABLE: then nothing was stored, and the request may be
 * repeated.
 */
export type CreateTemplate = (
  owner: TemplateOwner,
  body: TemplateCreate,
  options?: { makeDefault: boolean },
) => Promise<TemplateRow>

/** The lease of a name: a request that holds one for longer died with its node. */
export const CLAIM_LASTS_MS = 120_000

export function createCreateTemplate(deps: CreateTemplateDeps): CreateTemplate {
  const { db, clock } = deps
  const approve = createApproval(deps)

  async function create(
    owner: TemplateOwner,
    body: TemplateCreate,
    { makeDefault } = { makeDefault: false },
  ): Promise<TemplateRow> {
    const [said, file] = await readHeaderFile(deps.media, owner.accountId, body)
    try {
      const draft = draftTemplate(said, file)
      if (makeDefault) checkDefault(draft)
      await refuseBeyond(db, owner.accountId, draft.spec)
      if (draft.provider !== 'official_provider') {
        return await store(newRow(owner, draft, 'active'), makeDefault)
      }
      const line = await deps.lineOf(owner, body.officialSenderId)
      return await withName(owner, draft, () => bring(owner, draft, line, makeDefault))
    } catch (error) {
      await dropFetched(deps.media, body, file)
      throw error
    }
  }

  /** Runs `work` with the name claimed, so that only one of concurrent requests for a name goes on. */
  async function withName<T>(
    { accountId }: TemplateOwner,
    draft: TemplateDraft,
    work: () => Promise<T>,
  ): Promise<T> {
    const claim = { accountId, name: draft.name, language: draft.language }
    const nowMs = clock.now()
    let ours = true
    try {
      ours = await claimName(db, claim, nowMs, nowMs - CLAIM_LASTS_MS)
      if (!ours) throw beingMade(draft)
      if (await templateExists(db, { ...claim, provider: draft.provider })) throw exists(draft)
      return await work()
    } finally {
      // Also if the claim failed without an answer, since it may be stored. A claim that stays expires by itself.
      if (ours) await dropName(db, claim, nowMs).catch(() => {})
    }
  }

  /** Keeps the header's file from being deleted until the template is stored. */
  async function bring(owner: TemplateOwner, draft: TemplateDraft, line: Line, makeDefault: boolean) {
    const file = fileOf(draft.spec.header)
    const work = () => bringHeld(owner, draft, line, makeDefault)
    const row = file ? await deps.media.hold(owner.accountId, file, work) : await work()
    return row ?? fileGone()
  }

  /** Submits the template, and stores it only if the provider accepts it for review. */
  async function bringHeld(owner: TemplateOwner, draft: TemplateDraft, line: Line, makeDefault: boolean) {
    const { status, reason, subType, ...named } = await approve(owner.accountId, draft, line)
    const { connectionId, onPlatformNumber } = line
    const official = { connectionId, onPlatformNumber, ...named }
    return store({ ...newRow(owner, draft, status), reason, subType, official }, makeDefault)
  }

  function newRow(owner: TemplateOwner, draft: TemplateDraft, status: TemplateStatus): TemplateRow {
    const { name, category, subType, language, provider, spec, compiled } = draft
    return {
      id: deps.ids.next('tpl'),
      accountId: owner.accountId,
      name,
      category,
      subType,
      language,
      provider,
      spec,
      compiled,
      status,
      reason: null,
      official: null,
      lastCheckedAtMs: null,
    }
  }

  async function store(row: TemplateRow, makeDefault: boolean): Promise<TemplateRow> {
    await db.transaction(async tx => {
      await takeRoom(tx, row)
      const file = fileOf(row.spec.header)
      if (file && !(await deps.media.keep(tx, file))) fileGone()
      const nowMs = clock.now()
      const nextMs = row.official ? nextCheckAt(row.status, nowMs, nowMs) : null
      if (!(await insertTemplate(tx, row, nextMs))) throw exists(row)
      if (makeDefault) await setDefaultTemplate(tx, row.accountId, row)
      await deps.tell(tx, row, row, { from: null, drift: false })
    })
    deps.applied(row.accountId)
    return row
  }

  return create
}

function fileGone(): never {
  throw invalid('headerAssetId', 'the file was deleted')
}

/** A pending default is used once it is approved; a code template with further placeholders could never be. */
function checkDefault(draft: TemplateDraft): void {
  if (draft.subType === 'otp' && !saysCodeAlone(draft)) {
    throw invalid('isDefault', 'a default for codes must have exactly one placeholder, for the code')
  }
}

/** All of an account's templates may be listed at once, and are cached by each node that sends for it. */
const MOST_TEMPLATES = 5_000
/** Size of all their texts together; an e-mail may have half a megabyte. */
const MOST_MEGABYTES = 16

/** Serialized, so that concurrent requests cannot exceed the limits. What the provider has accepted is always stored. */
async function takeRoom(tx: Db, { accountId, official, spec }: TemplateRow): Promise<void> {
  if (official) return
  await lockAccount(tx, accountId)
  await refuseBeyond(tx, accountId, spec)
}

async function refuseBeyond(db: Db, accountId: AccountId, added: TemplateSpec): Promise<void> {
  const { templates, bytes } = await weighTemplates(db, accountId)
  if (templates >= MOST_TEMPLATES) throw beyond(`${MOST_TEMPLATES.toLocaleString('en')} templates`)
  if (bytes + Buffer.byteLength(JSON.stringify(added)) > MOST_MEGABYTES * 1_000_000) {
    throw beyond(`${MOST_MEGABYTES} MB of templates`)
  }
}

function beyond(most: string): Problem {
  return new Problem('CONFLICT', `An account has at most ${most}: delete what is not needed.`)
}

/** Has a retry time, since the other request may still fail. */
function beingMade({ name }: TemplateDraft): Problem {
  return new Problem('TEMPLATE_EXISTS', `Another request is creating a template "${name}".`, {
    retryAfterSeconds: 1,
  })
}

function exists({ name, language, provider }: Pick<TemplateRow, 'name' | 'language' | 'provider'>): Problem {
  const where = language === '' ? '' : ` in ${language}`
  return new Problem(
    'TEMPLATE_EXISTS',
    `A template "${name}"${where} of provider ${provider} exists already.`,
  )
}
