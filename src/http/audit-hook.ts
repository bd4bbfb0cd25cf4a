import type { FastifyReply, FastifyRequest } from 'fastify'
import type { NewAuditEntry } from '../core/audit/entry.ts'
import { type AccountId, isId, type RequestId } from '../lib/ids.ts'
import type { Route } from './route.ts'
import { actorOf } from './visit.ts'

/** Stores audit entries; never rejects. */
export type AuditTrail = { note(entry: NewAuditEntry): Promise<void> }

/** The platform's name in the filters of the audit log. */
const PLATFORM_NAME = 'platform'

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Wraps a handler: a success is recorded in the audit log before its response. Nothing else writes audit entries. */
export function withAudit(route: Route, handler: Handler, trail: AuditTrail): Handler {
  return async (request, reply) => {
    const answer = await handler(request, reply)
    if (reply.statusCode >= 400) return answer
    const entry = auditNoteOf(route, request, reply, answer)
    for (const each of request.alsoAudited ?? []) await trail.note({ ...entry, ...each })
    await trail.note(entry)
    return answer
  }
}

function auditNoteOf(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: unknown,
): NewAuditEntry {
  const target = targetOf(route, request, reply, answer)
  return {
    accountId: accountOf(route, request, answer) ?? (isId('acc', target) ? target : null),
    actor: actorOf(request),
    action: route.audit!.action,
    target,
    changes: {
      ...pickFields(request.body, route.audit!.bodyFields ?? []),
      ...pickFields((answer as { data?: unknown } | null)?.data, route.audit!.responseFields ?? []),
    },
    ip: request.ip,
    requestId: request.id as RequestId,
  }
}

/** Null for a change of the platform. */
function accountOf(route: Route, request: FastifyRequest, answer: unknown): AccountId | null {
  if (request.caller) return request.caller.account.id
  if (request.joinedAccountId) return request.joinedAccountId
  // Only the operator may name an account: people who log in, or change their own login, could otherwise
  // write into the log of any.
  if (!('operator' in route.auth)) return null
  const { id = '' } = request.params as { id?: string }
  if (route.url.startsWith('/api/admin/accounts/:id') && isId('acc', id)) return id
  const recorded = pickFields(request.body, route.audit!.bodyFields ?? [])
  const named = [...recordsIn(answer), recorded, request.query]
    .map(each => (isRecord(each) ? each['accountId'] : undefined))
    .find(each => typeof each === 'string')
  return named !== undefined && isId('acc', named as string) ? (named as AccountId) : null
}

/** The field that the route names; else the id of what was created, else the last path parameter. */
function targetOf(route: Route, request: FastifyRequest, reply: FastifyReply, answer: unknown): string {
  const params = request.params as Record<string, string>
  const { target } = route.audit!
  if (target !== undefined) return params[target] ?? findText(answer, target) ?? ownerOf(request)
  const made = reply.statusCode === 201 ? findText(answer, 'id') : null
  return made ?? Object.values(params).at(-1) ?? findText(answer, 'id') ?? ownerOf(request)
}

function findText(answer: unknown, field: string): string | null {
  const word = recordsIn(answer)
    .map(name => name[field])
    .find(each => typeof each === 'string')
  return (word as string | undefined) ?? null
}

/** The default target: the caller's account, the person's own login, or `platform`, for example for prices. */
function ownerOf({ caller, signedIn, url }: FastifyRequest): string {
  if (caller) return caller.account.id
  return signedIn && url.startsWith('/api/console/') ? signedIn.userId : PLATFORM_NAME
}

/** `data` of a response, and the objects in it, such as `key` in `{key: {id}, apiKey}`. */
function recordsIn(answer: unknown): Record<string, unknown>[] {
  const { data } = (answer ?? {}) as { data?: unknown }
  if (!isRecord(data)) return []
  return [data, ...Object.values(data).filter(isRecord)]
}

function pickFields(of: unknown, names: readonly string[]): Record<string, unknown> {
  if (!isRecord(of)) return {}
  return Object.fromEntries(names.filter(name => of[name] !== undefined).map(name => [name, of[name]]))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
