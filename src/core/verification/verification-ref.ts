import type { Caller } from '../../contract/caller.ts'
import { invalid } from '../../contract/errors.ts'
import type { Db } from '../../infra/db.ts'
import { isId } from '../../lib/ids.ts'
import type { Phones } from '../../lib/phone.ts'
import type { VerificationId } from './codes.ts'
import { readVerifiable } from './request.ts'
import { unknownVerification } from './rules.ts'
import { readVerification, readVerificationOf, type VerificationRow } from './store.ts'

/** How a body names a verification: at least one of both is set. */
export type VerificationRef = { id: VerificationId | null; recipientKey: string | null }

/** Throws a 400 where neither is given, a 404 for an id that cannot be one. */
export function readVerificationRef(
  body: { verificationId?: string; to?: string },
  phones: Phones,
): VerificationRef {
  const { verificationId, to } = body
  if (verificationId === undefined && to === undefined) {
    throw invalid('verificationId', 'verificationId or to is required')
  }
  const recipientKey = to === undefined ? null : readVerifiable(to, phones).key
  if (verificationId === undefined) return { id: null, recipientKey }
  if (!isId('ver', verificationId)) throw unknownVerification()
  return { id: verificationId, recipientKey }
}

/** The refusal of an id and a recipient that do not belong together. */
export function recipientMismatch(): Error {
  return invalid('to', 'is not the recipient of this verificationId')
}

/** The verification that is named; throws a 404 for one of another key mode. */
export async function findVerification(
  db: Db,
  { account, mode }: Caller,
  { id, recipientKey }: VerificationRef,
  nowMs: number,
): Promise<VerificationRow> {
  const live = mode === 'live'
  const row = id
    ? await readVerification(db, account.id, id, nowMs)
    : await readVerificationOf(db, { accountId: account.id, live, recipientKey: recipientKey! }, nowMs)
  if (row?.live !== live) throw unknownVerification()
  if (recipientKey !== null && row.recipientKey !== recipientKey) throw recipientMismatch()
  return row
}
