import type { OutgoingFile, TemplateOutcome, TemplateState } from '../../channels/provider.ts'
import type { AttachmentType, KeyMode } from '../../contract/enums.ts'
import { invalid, Problem } from '../../contract/errors.ts'
import type { TemplateStatus } from '../../contract/template.ts'
import type { TemplateCreate } from '../../contract/template-create.ts'
import type { Database, Db } from '../../infra/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type AccountId, type AssetId, type Ids, isId } from '../../lib/ids.ts'
import { draftTemplate } from './draft.ts'
import type { TellTemplate } from './events.ts'
import { type Line, providerNameOf } from './lines.ts'
import { type Approvers, approverUnavailable } from './official.ts'
import { toOfficial } from './official-form.ts'
import { claimName, dropName, selectOfficial } from './official-store.ts'
import type { HeaderFile, TemplateDraft } from './spec.ts'
import { insertTemplate, setDefaultTemplate, type TemplateRow, templateExists } from './store.ts'
import { nextCheckAt } from './transitions.ts'

/** For whom a template is made: an account, or the platform for all of them. */
export type TemplateOwner = { accountId: AccountId; mode: KeyMode }

/** An uploaded file, as far as a header needs it. */
export type HeaderAsset = HeaderFile & { mediaType: AttachmentType }

/** The uploaded files, as templates use them. */
export type TemplateMedia = {
  /** The account's own, or the platform's; null where there is none. */
  find(accountId: AccountId, id: AssetId): Promise<HeaderAsset | null>
  /** Takes the file behind an address in; a Problem under `path` where it cannot be had. */
  takeIn(accountId: AccountId, url: string, path: string): Promise<HeaderAsset>
  /** Keeps a file until the transaction ends; false when it is gone. */
  keep(tx: Db, file: HeaderFile): Promise<boolean>
  /** Takes a file away that nobody needs; never rejects. */
  discard(file: HeaderFile): Promise<void>
  outgoing(file: HeaderFile, type: AttachmentType): OutgoingFile
  /** Where a file is shown. */
  previewUrl(file: HeaderFile): string
}

export type CreateTemplateDeps = {
  db: Database
  clock: Clock
  ids: Ids
  media: TemplateMedia
  approvers: Approvers
  tell: TellTemplate
  /** This node works by what was committed: whoever made a template may send by it at once. */
  applied(accountId: AccountId): void
  /** Throws a 400 for an official sender that there is not. */
  lineOf(owner: TemplateOwner, asked: string | undefined): Promise<Line>
}

/**
 * Makes a template. Throws VALIDATION_ERROR that names what is wrong, NOT_FOUND
 * for a file that there is not, TEMPLATE_EXISTS, and PROVIDER_UNAVAILABLE: then
 * nothing was stored, and the same may be asked again.
 */
export type CreateTemplate = (
  owner: TemplateOwner,
  body: TemplateCreate,
  options?: { makeDefault: boolean },
) => Promise<TemplateRow>

/** A request that holds a name for longer is dead. */
export const CLAIM_LASTS_MS = 120_000

export function createCreateTemplate(deps: CreateTemplateDeps): CreateTemplate {
  const { db, clock, approvers } = deps

  async function create(
    owner: TemplateOwner,
    body: TemplateCreate,
    { makeDefault } = { makeDefault: false },
  ): Promise<TemplateRow> {
    const [said, file] = await withHeader(owner, body)
    try {
      const draft = draftTemplate(said, file)
      if (draft.provider !== 'official_provider') {
        return await store(newRow(owner, draft, 'active'), makeDefault)
      }
      const line = await deps.lineOf(owner, body.officialSenderId)
      return await withName(owner, draft, () => bring(owner, draft, line, makeDefault))
    } catch (error) {
      // What was fetched for a template that there is not: whoever asks again brings it again.
      if (file && body.headerMediaUrl !== undefined) await deps.media.discard(file)
      throw error
    }
  }

  /** The file that the header shows, of the type that the header says; a file alone says what header it is. */
  async function withHeader(
    owner: TemplateOwner,
    body: TemplateCreate,
  ): Promise<[TemplateCreate, HeaderFile | null]> {
    if (body.headerType === 'text') return [body, null]
    const asset = await headerAsset(owner, body)
    if (!asset) return [body, null]
    const { mediaType, ...file } = asset
    const path = body.headerAssetId === undefined ? 'headerMediaUrl' : 'headerAssetId'
    if (mediaType === 'audio') throw invalid(path, 'must be an image, a video or a document')
    if (body.headerType !== undefined && body.headerType !== mediaType) {
      throw invalid(path, `is of type ${mediaType}, not ${body.headerType}`)
    }
    return [{ ...body, headerType: mediaType }, file]
  }

  async function headerAsset(
    { accountId }: TemplateOwner,
    { headerAssetId, headerMediaUrl }: TemplateCreate,
  ): Promise<HeaderAsset | null> {
    if (headerAssetId !== undefined && headerMediaUrl !== undefined) {
      throw invalid('headerMediaUrl', 'or headerAssetId, not both')
    }
    if (headerAssetId !== undefined) return findAsset(accountId, headerAssetId)
    return headerMediaUrl === undefined
      ? null
      : deps.media.takeIn(accountId, headerMediaUrl, 'headerMediaUrl')
  }

  async function findAsset(accountId: AccountId, id: string): Promise<HeaderAsset> {
    const asset = isId('ast', id) ? await deps.media.find(accountId, id) : null
    if (asset) return asset
    throw new Problem('NOT_FOUND', 'headerAssetId: asset not found', {
      details: [{ path: 'headerAssetId', message: 'asset not found' }],
    })
  }

  /** Of two requests for one name one alone goes on. */
  async function withName<T>(
    { accountId }: TemplateOwner,
    draft: TemplateDraft,
    work: () => Promise<T>,
  ): Promise<T> {
    const claim = { accountId, name: draft.name, language: draft.language }
    const nowMs = clock.now()
    if (!(await claimName(db, claim, nowMs, nowMs - CLAIM_LASTS_MS))) throw exists(draft)
    try {
      if (await templateExists(db, { ...claim, provider: draft.provider })) throw exists(draft)
      return await work()
    } finally {
      // What is not let go of lapses by itself.
      await dropName(db, claim).catch(() => {})
    }
  }

  /** Puts it before the provider, and stores it only when the provider has it. */
  async function bring(owner: TemplateOwner, draft: TemplateDraft, line: Line, makeDefault: boolean) {
    const found = draft.spec.manual
      ? await bind(owner, draft, line)
      : await submit(draft, line, providerNameOf(draft.name, owner.accountId, line))
    const row: TemplateRow = {
      ...newRow(owner, draft, found.status),
      reason: found.reason,
      official: {
        connectionId: line.connectionId,
        onPlatformNumber: line.onPlatformNumber,
        providerName: found.providerName,
        providerTemplateId: found.providerTemplateId,
      },
    }
    return store(row, makeDefault)
  }

  async function submit(draft: TemplateDraft, line: Line, providerName: string): Promise<Found> {
    const outcome = await approvers.submit(
      line.connectionId,
      toOfficial(draft, providerName, deps.media.outgoing),
    )
    return { ...readOutcome(outcome), providerName }
  }

  /** What stands there already is found by its id, whatever it is called there. */
  async function bind(owner: TemplateOwner, draft: TemplateDraft, line: Line): Promise<Found> {
    const providerTemplateId = draft.providerTemplateId!
    if (line.sandbox) {
      // Nothing stands in the sandbox by itself: what is bound to there is put there.
      return { ...(await submit(draft, line, draft.name)), providerTemplateId }
    }
    const word = await approvers.find(line.connectionId, providerTemplateId)
    if (word.kind === 'unasked') throw approverUnavailable('it could not be asked about the template')
    if (word.kind === 'unknown' || (await isAnothers(owner, line, word.state))) {
      throw invalid('providerTemplateId', 'the provider knows no template of this id')
    }
    const { name: providerName, language, status, reason } = word.state
    if (language !== draft.language) {
      throw invalid('language', `must be ${language}: so the provider has the template`)
    }
    return { providerName, status, reason, providerTemplateId }
  }

  /** On a number that accounts share, what one of them had approved is nobody else's. */
  async function isAnothers(
    { accountId }: TemplateOwner,
    line: Line,
    { name, language }: TemplateState,
  ): Promise<boolean> {
    const known = await selectOfficial(db, line.connectionId, name, language)
    return known.some(
      each => each.accountId !== accountId && providerNameOf(each.name, each.accountId, line) === name,
    )
  }

  function newRow(owner: TemplateOwner, draft: TemplateDraft, status: TemplateStatus): TemplateRow {
    const { name, category, subType, language, provider, spec, compiled } = draft
    return {
      id: deps.ids.next('tpl'),
      accountId: owner.accountId,
      ...{ name, category, subType, language, provider, spec, compiled },
      status,
      reason: null,
      official: null,
      lastCheckedAtMs: null,
    }
  }

  async function store(row: TemplateRow, makeDefault: boolean): Promise<TemplateRow> {
    await db.transaction(async tx => {
      const header = row.spec.header
      if (header && header.type !== 'text' && header.file && !(await deps.media.keep(tx, header.file))) {
        throw invalid('headerAssetId', 'the file is gone')
      }
      const nowMs = clock.now()
      const nextMs = row.official ? nextCheckAt(row.status, nowMs, nowMs) : null
      if (!(await insertTemplate(tx, row, nextMs))) throw exists(row)
      if (makeDefault) await setDefaultTemplate(tx, row.accountId, row)
      if (row.status !== 'active') {
        await deps.tell(tx, row, row.status, { from: null, reason: row.reason, drift: false })
      }
    })
    deps.applied(row.accountId)
    return row
  }

  return create
}

type Found = {
  status: TemplateStatus
  reason: string | null
  providerName: string
  providerTemplateId: string | null
}

export const NOT_FOUND_THERE = 'The provider knows no template of this name and language.'

function readOutcome(outcome: TemplateOutcome | null): Omit<Found, 'providerName'> {
  switch (outcome?.kind) {
    case 'submitted': {
      const { status, reason, providerTemplateId } = outcome.state
      return { status, reason, providerTemplateId: providerTemplateId || null }
    }
    case 'refused':
      throw invalid(outcome.path ?? 'body', `the provider refuses it: ${outcome.detail}`)
    case 'unavailable':
      throw approverUnavailable(outcome.detail)
    case undefined:
      throw invalid('officialSenderId', 'the connection of this sender takes no templates')
  }
}

function exists({ name, language, provider }: Pick<TemplateRow, 'name' | 'language' | 'provider'>): Problem {
  const where = language === '' ? '' : ` in ${language}`
  return new Problem(
    'TEMPLATE_EXISTS',
    `There is a template "${name}"${where} of provider ${provider} already.`,
  )
}
