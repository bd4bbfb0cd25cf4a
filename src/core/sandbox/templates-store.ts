import type {
  ReceiptClaim,
  SandboxTemplates,
  SubmittedTemplate,
  TemplateKey,
} from '../../contract/sandbox-inbox.ts'
import type { Db } from '../../infra/db.ts'
import { int8Array } from '../../infra/pg-array.ts'
import { toIso } from '../../lib/clock.ts'
import { type ConnectionId, toUuid } from '../../lib/ids.ts'

/** The sandbox's templates, in the database: shared by all nodes, and kept through a crash. */
export function createTemplateStore(db: Db): SandboxTemplates {
  return {
    storeTemplate: template => plantTemplate(db, template),
    findTemplate: key => findTemplate(db, key),
    removeTemplate: (key, id) => removeTemplate(db, key, id),
    nextDecisionAt: (connectionId, nowMs) => nextVerdictAt(db, connectionId, nowMs),
    claimDecisions: claim => claimVerdicts(db, claim),
    finishDecisions: ids => finishVerdicts(db, ids),
  }
}

type Row = { id: number; name: string; language: string; decided_at: Date }

function templateOf({ id, name, language, decided_at }: Row): SubmittedTemplate {
  return { id, name, language, decidedAtMs: decided_at.getTime() }
}

async function plantTemplate(db: Db, template: TemplateKey & { decidedAtMs: number }): Promise<number> {
  const { rows } = await db.query<{ id: number }>({
    name: 'sandbox_plant_template',
    text: `insert into sandbox_templates (connection_id, name, language, decided_at)
      values ($1, $2, $3, $4) returning id`,
    values: [toUuid(template.connectionId), template.name, template.language, toIso(template.decidedAtMs)],
  })
  return rows[0]!.id
}

async function findTemplate(db: Db, key: TemplateKey): Promise<SubmittedTemplate | null> {
  const { rows } = await db.query<Row>({
    name: 'sandbox_find_template',
    text: `select id, name, language, decided_at from sandbox_templates
      where connection_id = $1 and name = $2 and language = $3 order by id limit 1`,
    values: [toUuid(key.connectionId), key.name, key.language],
  })
  return rows[0] ? templateOf(rows[0]) : null
}

/** Removes the template with this id, or, if that is null, one of this name: preferably one whose verdict was reported. */
async function removeTemplate(db: Db, key: TemplateKey, id: number | null): Promise<void> {
  await db.query({
    name: 'sandbox_remove_template',
    text: `delete from sandbox_templates where id = (
        select id from sandbox_templates where connection_id = $1 and name = $2 and language = $3
          and ($4::bigint is null or id = $4) order by told desc, id desc limit 1)`,
    values: [toUuid(key.connectionId), key.name, key.language, id],
  })
}

async function nextVerdictAt(db: Db, connectionId: ConnectionId, nowMs: number): Promise<number | null> {
  const { rows } = await db.query<{ decided_at: Date }>({
    name: 'sandbox_next_verdict',
    text: `select decided_at from sandbox_templates
      where connection_id = $1 and not told and (claimed_until is null or claimed_until <= $2)
      order by decided_at limit 1`,
    values: [toUuid(connectionId), toIso(nowMs)],
  })
  return rows[0]?.decided_at.getTime() ?? null
}

/** Skips rows that another node has locked. */
async function claimVerdicts(db: Db, claim: ReceiptClaim): Promise<SubmittedTemplate[]> {
  const { rows } = await db.query<Row>({
    name: 'sandbox_claim_verdicts',
    text: `update sandbox_templates as template set claimed_until = $3
      from (
        select id from sandbox_templates
        where connection_id = $1 and decided_at <= $2 and not told
          and (claimed_until is null or claimed_until <= $2)
        order by decided_at limit $4
        for update skip locked
      ) as due
      where template.id = due.id
      returning template.id, template.name, template.language, template.decided_at`,
    values: [toUuid(claim.connectionId), toIso(claim.nowMs), toIso(claim.claimedUntilMs), claim.limit],
  })
  return rows.map(templateOf).sort((a, b) => a.decidedAtMs - b.decidedAtMs || a.id - b.id)
}

async function finishVerdicts(db: Db, ids: readonly number[]): Promise<void> {
  await db.query({
    name: 'sandbox_finish_verdicts',
    text: 'update sandbox_templates set told = true where id = any ($1::bigint[])',
    values: [int8Array(ids, id => id)],
  })
}
