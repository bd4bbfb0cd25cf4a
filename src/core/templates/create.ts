import { invalid, Problem } from '../../contract/errors.ts'
import type { TemplateStatus } from '../../contract/template.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AccountId, Ids } from '../../lib/ids.ts'
import { lockAccount } from '../accounts/store.ts'
import { createApproval } from './approval.ts'
import { draftTemplate } from './draft.ts'
import type { PublishTemplateEvent } from './events.ts'
import { discardDownloaded, readHeaderFile, type TemplateMedia } from './header-file.ts'
import type { OfficialConnection, TemplateOwner } from './official-connection.ts'
import { claimName, releaseName } from './official-store.ts'
import type { ProviderTemplates } from './provider-templates.ts'
import { fileOf, isCodeOnly, type TemplateDraft, type TemplateSpec } from './spec.ts'
import {
  insertTemplate,
  measureTemplates,
  setDefaultTemplate,
  type TemplateRow,
  templateExists,
} from './store.ts'
import { nextCheckAt } from './transitions.ts'

export type CreateTemplateDeps = {
  db: Database
  clock: Clock
  ids: Ids
  media: TemplateMedia
  providerTemplates: ProviderTemplates
  publishEvent: PublishTemplateEvent
  /** Called after the commit, so that the template can be used on this node at once. */
  applied(accountId: AccountId): void
  /** Throws a 400 for an unknown official sender. */
  connectionFor(owner: TemplateOwner, asked: string | undefined): Promise<OfficialConnection>
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
export const NAME_CLAIM_MS = 120_000

export function createCreateTemplate(deps: CreateTemplateDeps): CreateTemplate {
  const { db, clock } = deps
  const approve = createApproval(deps)

  async function create(
    owner: TemplateOwner,
    body: TemplateCreate,
    { makeDefault } = { makeDefault: false },
  ): Promise<TemplateRow> {
    const [filledBody, file] = await readHeaderFile(deps.media, owner.accountId, body)
    try {
      const draft = draftTemplate(filledBody, file)
      if (makeDefault) checkDefault(draft)
      await checkLimits(db, owner.accountId, draft.spec)
      if (draft.provider !== 'official_provider') {
        return await store(newRow(owner, draft, 'active'), makeDefault)
      }
      const connection = await deps.connectionFor(owner, body.officialSenderId)
      return await withNameClaim(owner, draft, () => submitWithFile(owner, draft, connection, makeDefault))
    } catch (error) {
      await discardDownloaded(deps.media, body, file)
      throw error
    }
  }

  /** Runs `work` with the name claimed, so that only one of concurrent requests for a name goes on. */
  async function withNameClaim<T>(
    { accountId }: TemplateOwner,
    draft: TemplateDraft,
    work: () => Promise<T>,
  ): Promise<T> {
    const claim = { accountId, name: draft.name, language: draft.language }
    const nowMs = clock.now()
    let isClaimed = true
    try {
      isClaimed = await claimName(db, claim, nowMs, nowMs - NAME_CLAIM_MS)
      if (!isClaimed) throw creationInProgress(draft)
      if (await templateExists(db, { ...claim, provider: draft.provider })) throw alreadyExists(draft)
      return await work()
    } finally {
      // Also if the claim failed without an answer, since it may be stored. A claim that stays expires by itself.
      if (isClaimed) await releaseName(db, claim, nowMs).catch(() => {})
    }
  }

  /** Keeps the header's file from being deleted until the template is stored. */
  async function submitWithFile(
    owner: TemplateOwner,
    draft: TemplateDraft,
    connection: OfficialConnection,
    makeDefault: boolean,
  ) {
    const file = fileOf(draft.spec.header)
    const work = () => submitAndStore(owner, draft, connection, makeDefault)
    const row = file ? await deps.media.retainDuring(owner.accountId, file, work) : await work()
    return row ?? fileDeleted()
  }

  /** Submits the template, and stores it only if the provider accepts it for review. */
  async function submitAndStore(
    owner: TemplateOwner,
    draft: TemplateDraft,
    connection: OfficialConnection,
    makeDefault: boolean,
  ) {
    const { status, reason, subType, ...named } = await approve(owner.accountId, draft, connection)
    const { connectionId, onPlatformNumber } = connection
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
      await enforceLimits(tx, row)
      const file = fileOf(row.spec.header)
      if (file && !(await deps.media.retain(tx, file))) fileDeleted()
      const nowMs = clock.now()
      const nextMs = row.official ? nextCheckAt(row.status, nowMs, nowMs) : null
      if (!(await insertTemplate(tx, row, nextMs))) throw alreadyExists(row)
      if (makeDefault) await setDefaultTemplate(tx, row.accountId, row)
      await deps.publishEvent(tx, row, row, { from: null, drift: false })
    })
    deps.applied(row.accountId)
    return row
  }

  return create
}

function fileDeleted(): never {
  throw invalid('headerAssetId', 'the file was deleted')
}

/** A pending default is used once it is approved; a code template with further placeholders could never be. */
function checkDefault(draft: TemplateDraft): void {
  if (draft.subType === 'otp' && !isCodeOnly(draft)) {
    throw invalid('isDefault', 'a default for codes must have exactly one placeholder, for the code')
  }
}

/** All of an account's templates may be listed at once, and are cached by each node that sends for it. */
const MAX_TEMPLATES = 5_000
/** Size of all their texts together; an e-mail may have half a megabyte. */
const MAX_MEGABYTES = 16

/** Serialized, so that concurrent requests cannot exceed the limits. What the provider has accepted is always stored. */
async function enforceLimits(tx: Db, { accountId, official, spec }: TemplateRow): Promise<void> {
  if (official) return
  await lockAccount(tx, accountId)
  await checkLimits(tx, accountId, spec)
}

async function checkLimits(db: Db, accountId: AccountId, added: TemplateSpec): Promise<void> {
  const { templates, bytes } = await measureTemplates(db, accountId)
  if (templates >= MAX_TEMPLATES) throw limitReached(`${MAX_TEMPLATES.toLocaleString('en')} templates`)
  if (bytes + Buffer.byteLength(JSON.stringify(added)) > MAX_MEGABYTES * 1_000_000) {
    throw limitReached(`${MAX_MEGABYTES} MB of templates`)
  }
}

function limitReached(limit: string): Problem {
  return new Problem('CONFLICT', `An account has at most ${limit}: delete what is not needed.`)
}

/** Has a retry time, since the other request may still fail. */
function creationInProgress({ name }: TemplateDraft): Problem {
  return new Problem('TEMPLATE_EXISTS', `Another request is creating a template "${name}".`, {
    retryAfterSeconds: 1,
  })
}

function alreadyExists({
  name,
  language,
  provider,
}: Pick<TemplateRow, 'name' | 'language' | 'provider'>): Problem {
  const where = language === '' ? '' : ` in ${language}`
  return new Problem(
    'TEMPLATE_EXISTS',
    `A template "${name}"${where} of provider ${provider} exists already.`,
  )
}
