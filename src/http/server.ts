import helmet, { type FastifyHelmetOptions } from '@fastify/helmet'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { TObject } from 'typebox'
import type { Caller } from '../contract/caller.ts'
import { Problem } from '../contract/errors.ts'
import type { Attempts } from '../core/people/attempts.ts'
import type { Clock } from '../lib/clock.ts'
import type { Ids } from '../lib/ids.ts'
import { type AuditTrail, withAudit } from './audit-hook.ts'
import {
  authenticate,
  authenticateOperator,
  authenticatePerson,
  type Keys,
  type OperatorToken,
  type PeopleAccess,
  requireActive,
  requireOwner,
  requirePermission,
  requireSameSite,
} from './auth.ts'
import { addDrain } from './drain.ts'
import { createClientErrorHandler, createErrorHandler, sendProblem, toProblem } from './errors.ts'
import { acceptForms, type FormMedia, withForm } from './forms.ts'
import {
  acceptJsonBodies,
  acceptRawBodies,
  defaultToEmptyBody,
  dropTypeOfEmptyBody,
  dropTypeOfEmptyChunkedBody,
  refuseUnreadable,
  skipBodyParsing,
} from './json-body.ts'
import { createLargeBodies, type LargeBodies } from './large-bodies.ts'
import { pathOf, shadowedPaths } from './paths.ts'
import { addProtocolChecks } from './protocol-checks.ts'
import { parseQuery } from './query.ts'
import { createRateLimiter, type RateLimiter } from './rate-limit.ts'
import { addRequestContext, type HttpLog, type HttpMeter, setCommonHeaders } from './request-context.ts'
import { checkErrorCodes, responseCompiler } from './responses.ts'
import type { Route } from './route.ts'
import { createUnmatched, type Unmatched } from './unmatched.ts'
import { validatorCompiler } from './validation.ts'

export type ServerDeps = {
  log: HttpLog
  clock: Clock
  ids: Ids
  keys: Keys
  /** Who is signed in to the console. */
  people: PeopleAccess
  /** Where changes are noted. */
  audit: AuditTrail
  operatorToken: OperatorToken
  /** Bounds guesses at it. */
  attempts: Attempts
  metrics: HttpMeter
  /** Live nodes, this one included: each deals out its share of the rates. */
  nodeCount(): number
  routes: readonly Route[]
  /** Takes the files of forms. */
  media: FormMedia
  /** How much of a file it has in memory at most; 0 by default. */
  fileBytes?: number
  /** Addresses and networks of proxies that say truly where a request comes from; none by default. */
  trustedProxies?: readonly string[]
  /** For the largest bodies to arrive, in ms. */
  longestRequestMs?: number
  /** Checks every answer against its schema, and refusals against the codes that are listed; fails loudly: for tests. */
  checkResponses?: boolean
}

const DEFAULT_BODY_LIMIT_BYTES = 1_048_576
/** For routes without a key: nothing else bounds how much strangers send at once. */
const PUBLIC_BODY_LIMIT_BYTES = 16_384
const MAX_HEADER_BYTES = 16_384
/** No limit of its own: an id that is too long is answered as an unknown one is, after the key was checked. */
const MAX_PARAM_LENGTH = MAX_HEADER_BYTES
/** Longer than a load balancer keeps an idle connection, so that it is never the server that cuts first. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000
const HEADERS_TIMEOUT_MS = 15_000
/** For a whole request to arrive; the largest bodies come over slow lines. */
const REQUEST_TIMEOUT_MS = 300_000
/** A connection on which nothing moves. */
const IDLE_TIMEOUT_MS = 120_000

/**
 * The HTTP server with all its routes, not listening yet. `close()` takes no
 * more connections, closes idle ones, and lets requests under way finish.
 */
export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const limiter = createRateLimiter(deps)
  const largeBodies = createLargeBodies(deps.fileBytes)
  const unmatched = createUnmatched({ ...deps, limiter })
  const app = createFastify(deps, unmatched)
  const onError = createErrorHandler(deps.log)
  addDrain(app, deps.clock)
  addRequestContext(app, deps.log, deps.metrics)
  addProtocolChecks(app)
  if (deps.checkResponses) checkErrorCodes(app, deps.routes)
  acceptJsonBodies(app)
  // An unknown path is a 404, also where its body is too large or cannot be read.
  app.setErrorHandler((error, request, reply) =>
    request.is404
      ? unmatched(request, reply).then(problem => onError(problem, request, reply))
      : onError(error, request, reply),
  )
  app.setNotFoundHandler(async (request, reply) =>
    sendProblem(await unmatched(request, reply), request, reply),
  )
  const prepare: Record<(typeof SCOPED_KINDS)[number], (scope: FastifyInstance) => unknown> = {
    form: scope => acceptForms(scope, deps.media),
    rawBody: acceptRawBodies,
    streamed: skipBodyParsing,
    page: scope => scope.register(helmet, PAGE_HEADERS),
  }
  const add = (scope: FastifyInstance, route: Route) =>
    addRoute(scope, route, deps, largeBodies, [
      ...refuseShadowedPaths(deps.routes, route, unmatched),
      ...createGate(route, deps, limiter),
    ])
  for (const route of deps.routes) if (!SCOPED_KINDS.some(kind => route[kind])) add(app, route)
  for (const kind of SCOPED_KINDS) {
    await app.register(async scope => {
      await prepare[kind](scope)
      for (const route of deps.routes) if (route[kind]) add(scope, route)
    })
  }
  await app.ready()
  return app
}

/** Kinds of routes that read bodies, or send answers, in another way than the rest: each has a scope of its own. */
const SCOPED_KINDS = ['form', 'rawBody', 'streamed', 'page'] as const

/**
 * For pages alone: the API's answers need none of it, and setting it up costs
 * every request some microseconds. Everything comes from here; styles are set
 * inline by the documentation page and the console.
 */
const PAGE_HEADERS: FastifyHelmetOptions = {
  contentSecurityPolicy: {
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      // Previews: of files that are on their way up, and of codes that were drawn here.
      imgSrc: ["'self'", 'data:', 'blob:'],
      mediaSrc: ["'self'", 'blob:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      // On plain http it would break every link.
      upgradeInsecureRequests: null,
    },
  },
  // Whether all of a domain speaks TLS is for the proxy in front of us to promise.
  strictTransportSecurity: false,
}

function createFastify(
  { ids, log, trustedProxies = [], longestRequestMs = 0, checkResponses = false }: ServerDeps,
  unmatched: Unmatched,
): FastifyInstance {
  const onError = createErrorHandler(log)
  return Fastify({
    schemaController: { compilersFactory: createCompilers(checkResponses) },
    // One line of our own per request instead of two.
    logger: false,
    genReqId: () => ids.next('req'),
    // An id from outside would let a client choose what our log says.
    requestIdHeader: false,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, longestRequestMs),
    connectionTimeout: IDLE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // Whoever is connected while we drain still gets a real answer.
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS, requireHostHeader: false },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: parseQuery },
    clientErrorHandler: createClientErrorHandler(ids),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      unmatched(request, reply, toProblem(error)).then(problem => onError(problem, request, reply))
    },
  })
}

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/** Given at construction, and not set later: then Fastify does not load its own. */
function createCompilers(checkResponses: boolean): Compilers {
  const serializerCompiler = responseCompiler(checkResponses)
  // Fastify's types know no other compilers than its own.
  return {
    buildValidator: () => validatorCompiler,
    buildSerializer: () => serializerCompiler,
  } as unknown as Compilers
}

function refuseShadowedPaths(routes: readonly Route[], route: Route, unmatched: Unmatched): Gate[] {
  const swallowed = shadowedPaths(routes, route)
  if (swallowed.size === 0) return []
  return [
    (request, reply, done) => {
      if (swallowed.has(pathOf(request.url))) void unmatched(request, reply).then(done)
      else done()
    },
  ]
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  deps: ServerDeps,
  largeBodies: LargeBodies,
  gates: Gate[],
): void {
  const { form } = route
  const bodyLimit =
    route.bodyLimit ?? ('public' in route.auth ? PUBLIC_BODY_LIMIT_BYTES : DEFAULT_BODY_LIMIT_BYTES)
  const plain = route.faults === 'handed over' ? passFaults(route.handler) : (route.handler as Handler)
  const auditedHandler = route.audit ? withAudit(route, plain, deps.audit) : plain
  const handler = form ? withForm(form, route, auditedHandler, deps.media) : auditedHandler
  const isTracked = route.method !== 'GET' && !route.streamed
  const needsNoBody = takesNoBody(route) || route.bodyOptional === true
  app.route({
    method: route.method,
    url: route.url,
    // A copy: Fastify writes into it.
    schema: { ...route.schema },
    bodyLimit,
    onRequest: needsNoBody ? [...gates, dropTypeOfEmptyBody] : gates,
    ...(isTracked && {
      preParsing: [...(needsNoBody ? [dropTypeOfEmptyChunkedBody] : []), largeBodies.admit(bodyLimit)],
    }),
    ...(takesNoBody(route) && { preValidation: refuseUnreadable }),
    ...(route.bodyOptional && { preValidation: defaultToEmptyBody }),
    attachValidation: route.faults === 'handed over' || form !== undefined,
    config: { auth: route.auth, ...(form && { form, formSchema: route.schema.body as TObject }) },
    handler: (isTracked ? largeBodies.track(handler) : handler) as never,
  })
}

function takesNoBody({ method, schema, form, rawBody, streamed }: Route): boolean {
  return method !== 'GET' && !schema.body && !form && !rawBody && !streamed
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

function passFaults(handler: Route['handler']): Handler {
  return (request: FastifyRequest, reply: FastifyReply): unknown => {
    if (request.validationError) request.fault = toProblem(request.validationError)
    return handler(request as never, reply)
  }
}

type Gate = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/** A hook that lets a request in unless `pass` throws or rejects; it waits only for a promise. */
function createGateHook(pass: (request: FastifyRequest, reply: FastifyReply) => unknown): Gate {
  return (request, reply, done) => {
    forbidCaching(reply)
    const passed = pass(request, reply)
    if (!(passed instanceof Promise)) return done()
    passed.then(() => done(), done)
  }
}

/**
 * No answer to a caller may be cached: a proxy does not know that `X-API-Key` tells callers apart, and
 * the next person at a browser may be another one.
 */
function forbidCaching(reply: FastifyReply): void {
  reply.header('Cache-Control', 'no-store')
}

/** Throws NOT_FOUND for a body that nobody would read. */
async function requireExpected(
  { params }: FastifyRequest,
  { isExpected }: NonNullable<Route['rawBody']>,
): Promise<void> {
  if (!(await isExpected(params as Record<string, string>))) throw new Problem('NOT_FOUND')
}

/** Key, then rate limit, then permission: all of it before a byte of the body is read. */
function createGate(route: Route, deps: ServerDeps, limiter: RateLimiter): Gate[] {
  const { auth } = route
  if ('public' in auth) {
    const { rawBody } = route
    if (rawBody) return [createGateHook(request => requireExpected(request, rawBody))]
    return auth.sameSite ? [createGateHook(request => requireSameSite(request, deps.people))] : []
  }
  if ('session' in auth) {
    return [
      createGateHook(async request => {
        const { userId } = await authenticatePerson(request, deps.people)
        if (route.method !== 'GET') limiter.takeForUser(userId)
      }),
    ]
  }
  if ('operator' in auth) {
    return [createGateHook(request => authenticateOperator(request, deps))]
  }
  const { permission, ownersOnly } = auth
  const group = route.rateGroup ?? 'api'

  function admit(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
    request.caller = caller
    // People in the console have a bucket of their own: what they look at does not slow programs down.
    limiter.take(caller.account, request.signedIn && group === 'api' ? 'console' : group, reply)
    requireActive(caller)
    if (permission !== undefined) requirePermission(caller, permission)
    if (ownersOnly) requireOwner(caller)
  }

  return [
    createGateHook((request, reply) => {
      const found = authenticate(request, deps.keys, deps.people)
      if (!(found instanceof Promise)) return admit(found, request, reply)
      return found.then(caller => admit(caller, request, reply))
    }),
  ]
}
