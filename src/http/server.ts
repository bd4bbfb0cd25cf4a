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
import { sendBadAddressPage } from './bad-address.ts'
import { addDrain } from './drain.ts'
import { createClientErrorHandler, createErrorHandler, sendProblem, toProblem } from './errors.ts'
import { forbidCaching } from './forbid-caching.ts'
import { acceptForms, type FormMedia, withForm } from './forms.ts'
import { endBodiesOfHead } from './head-requests.ts'
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
import { createPageCheck, pathOf, shadowedPaths } from './paths.ts'
import { addProtocolChecks } from './protocol-checks.ts'
import { parseQuery } from './query.ts'
import { createRateLimiter, type RateLimiter } from './rate-limit.ts'
import { addRequestContext, type HttpLog, type HttpMeter, setCommonHeaders } from './request-context.ts'
import { checkErrorCodes, checkHeaders, responseCompiler } from './responses.ts'
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
  /** Records changes in the audit log. */
  audit: AuditTrail
  operatorToken: OperatorToken
  /** Limits the attempts to guess the operator token. */
  attempts: Attempts
  metrics: HttpMeter
  /** The number of live nodes, including this one: each node grants its share of the rate limits. */
  nodeCount(): number
  routes: readonly Route[]
  /** Stores the files of forms. */
  media: FormMedia
  /** Most bytes of a form's file in memory while it is streamed to its store; 0 by default. */
  fileBytes?: number
  /** Addresses and networks of the proxies whose `X-Forwarded-For` is trusted; none by default. */
  trustedProxies?: readonly string[]
  /** The time limit for the largest bodies to arrive, in ms. */
  longestRequestMs?: number
  /** For tests: throws if a response does not match its schema, or if the route does not list its error code or a header. */
  checkResponses?: boolean
}

const DEFAULT_BODY_LIMIT_BYTES = 1_048_576
/** For routes without a key: nothing else limits how much anonymous clients send at once. */
const PUBLIC_BODY_LIMIT_BYTES = 16_384
const MAX_HEADER_BYTES = 16_384
/** As long as all headers: an id that is too long is answered like an unknown one, after the key is checked. */
const MAX_PARAM_LENGTH = MAX_HEADER_BYTES
/** Longer than a load balancer keeps an idle connection, so that the server is not the one that closes it. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000
const HEADERS_TIMEOUT_MS = 15_000
/** The time limit for a whole request to arrive, long enough for a large body over a slow connection. */
const REQUEST_TIMEOUT_MS = 300_000
/** After this time a connection without traffic is closed. */
const IDLE_TIMEOUT_MS = 120_000

/**
 * The HTTP server with all its routes, not listening yet. `close()` accepts no more connections, closes idle
 * ones, and waits for the requests in progress.
 */
export async function createServer(deps: ServerDeps): Promise<FastifyInstance> {
  const limiter = createRateLimiter(deps)
  const largeBodies = createLargeBodies(deps.fileBytes)
  const unmatched = createUnmatched({ ...deps, limiter })
  const app = createFastify(deps, unmatched)
  const onError = createErrorHandler(deps.log)
  addDrain(app, deps.clock)
  addRequestContext(app, deps.log, deps.metrics)
  addProtocolChecks(app, deps)
  endBodiesOfHead(app)
  if (deps.checkResponses) {
    checkErrorCodes(app, deps.routes)
    checkHeaders(app, deps.routes)
  }
  acceptJsonBodies(app)
  // An unknown path is a 404, even if its body is too large or cannot be read.
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

/** Kinds of routes that read request bodies or send responses differently: each is registered in its own scope. */
const SCOPED_KINDS = ['form', 'rawBody', 'streamed', 'page'] as const

/**
 * Only for pages: responses of the API do not need these headers, which cost some microseconds per request.
 * Everything is loaded from this server; the documentation page and the console use inline styles.
 */
const PAGE_HEADERS: FastifyHelmetOptions = {
  contentSecurityPolicy: {
    directives: {
      defaultSrc: ["'self'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      // Previews of files that are being uploaded, and QR codes that the page draws.
      imgSrc: ["'self'", 'data:', 'blob:'],
      mediaSrc: ["'self'", 'blob:'],
      fontSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      objectSrc: ["'none'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      // Over plain HTTP it would break every link.
      upgradeInsecureRequests: null,
    },
  },
  // The same as `frame-ancestors`, for browsers that do not know that.
  xFrameOptions: { action: 'deny' },
  // The header applies to the whole domain, so it is set by the proxy in front, if at all.
  strictTransportSecurity: false,
}

function createFastify(
  { clock, ids, log, routes, trustedProxies = [], longestRequestMs = 0, checkResponses = false }: ServerDeps,
  unmatched: Unmatched,
): FastifyInstance {
  const onError = createErrorHandler(log)
  const isForPage = createPageCheck(routes)
  return Fastify({
    schemaController: { compilersFactory: createCompilers(checkResponses) },
    // `addRequestContext` logs one line per request; Fastify would log two.
    logger: false,
    genReqId: () => ids.next('req'),
    // An id from a request header would let a client write into the log.
    requestIdHeader: false,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, longestRequestMs),
    connectionTimeout: IDLE_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    // Requests that arrive over open connections during the drain still get a real response.
    return503OnClosing: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    http: { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS, requireHostHeader: false },
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH, querystringParser: parseQuery },
    clientErrorHandler: createClientErrorHandler({ ids, clock }),
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      if (error.code === 'FST_ERR_BAD_URL' && isForPage(request.url, request.headers.accept))
        return sendBadAddressPage(reply)
      unmatched(request, reply, toProblem(error)).then(problem => onError(problem, request, reply))
    },
  })
}

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>

/** Passed at construction, so that Fastify does not load its own compilers. */
function createCompilers(checkResponses: boolean): Compilers {
  const serializerCompiler = responseCompiler(checkResponses)
  // Fastify's types accept only its own compilers.
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

/** A hook that admits a request unless `pass` throws or rejects; synchronous unless `pass` returns a promise. */
function createGateHook(pass: (request: FastifyRequest, reply: FastifyReply) => unknown): Gate {
  return (request, reply, done) => {
    forbidCaching(reply)
    const passed = pass(request, reply)
    if (!(passed instanceof Promise)) return done()
    passed.then(() => done(), done)
  }
}

/** Throws NOT_FOUND for a call that is not expected, before its body is read. */
async function requireExpected(
  { params }: FastifyRequest,
  { isExpected }: NonNullable<Route['rawBody']>,
): Promise<void> {
  if (!(await isExpected(params as Record<string, string>))) throw new Problem('NOT_FOUND')
}

/** Checks the key, then the rate limit, then the permission, all before the body is read. */
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
    // People in the console have their own bucket, so that they do not use up the rate of the account's programs.
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
