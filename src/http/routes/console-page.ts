import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Problem } from '../../contract/errors.ts'
import type { ConsoleFile, ConsoleFiles, Encoding } from '../../infra/console-files.ts'
import { abortWhenGone } from '../client-gone.ts'
import { createPageCheck, type PageCheck, pathOf } from '../paths.ts'
import { plainPage } from '../plain-page.ts'
import { defineRoute, type Route, type RouteSchema } from '../route.ts'

type Deps = { consoleFiles: ConsoleFiles }

const PAGE: RouteSchema = {
  summary: 'Open the console',
  tags: ['Operations'],
  response: { 200: Type.String() },
}
const INDEX = '/index.html'
const WEEK_SECONDS = 604_800

/** `GET /`: the console. */
export const consolePage = ({ consoleFiles }: Deps) =>
  defineRoute({
    method: 'GET',
    url: '/',
    auth: { public: true },
    page: true,
    schema: PAGE,
    handler: (request, reply) => sendIndex(consoleFiles, request as never, reply),
  })

/** `GET /assets/*`: the files that the console's page loads. */
export const consoleAssets = ({ consoleFiles }: Deps) =>
  defineRoute({
    method: 'GET',
    url: '/assets/*',
    auth: { public: true },
    page: true,
    schema: { ...PAGE, summary: 'Load a file of the console' },
    async handler(request, reply) {
      const file = await consoleFiles.find(pathOf(request.url))
      if (!file) throw new Problem('NOT_FOUND')
      return sendFile(consoleFiles, file, request as never, reply)
    },
  })

/**
 * `GET` of any other path: also the console, whose pages have their own paths. Only for requests that accept
 * HTML, and not below the first path segment of any other route.
 */
export const consoleAnyPage = ({ consoleFiles, routes }: Deps & { routes: () => readonly Route[] }) => {
  let isForPage: PageCheck | undefined
  return defineRoute({
    method: 'GET',
    url: '/*',
    auth: { public: true },
    page: true,
    schema: PAGE,
    handler(request, reply) {
      isForPage ??= createPageCheck(routes())
      if (!isForPage(request.url, request.headers.accept)) return reply.callNotFound()
      return sendIndex(consoleFiles, request as never, reply)
    },
  })
}

async function sendIndex(
  files: ConsoleFiles,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const index = (await files.find(INDEX)) ?? (await findBuilt(files, request, reply))
  if (index) return sendFile(files, index, request, reply)
  return reply
    .code(503)
    .headers({ 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'Retry-After': '2' })
    .send(files.fault() === null ? BUILDING : NOT_BUILT)
}

/** The page once the console is built; null if that takes too long, failed, or is not being done. */
async function findBuilt(
  files: ConsoleFiles,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ConsoleFile | null> {
  await files.awaitBuild(abortWhenGone(request, reply).signal)
  return files.find(INDEX)
}

function sendFile(
  files: ConsoleFiles,
  file: ConsoleFile,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers({ ETag: file.etag, 'Cache-Control': cacheControl(file), Vary: 'Accept-Encoding' })
  if (request.headers['if-none-match']?.includes(file.etag)) return reply.code(304).send()
  const encoding = chooseEncoding(request.headers['accept-encoding'], file)
  reply.headers({
    'Content-Type': file.type,
    'Content-Length': encoding === undefined ? file.sizeBytes : file.encoded[encoding],
    ...(encoding !== undefined && { 'Content-Encoding': encoding }),
  })
  return reply.send(files.open(file, encoding))
}

/** The page itself is revalidated each time, so that a new version is loaded at once. */
function cacheControl({ path, immutable }: ConsoleFile): string {
  if (path === INDEX) return 'no-cache'
  return immutable ? 'public, max-age=31536000, immutable' : `public, max-age=${WEEK_SECONDS}`
}

function chooseEncoding(accepted: string | undefined, { encoded }: ConsoleFile): Encoding | undefined {
  const names = (accepted ?? '').split(',').filter(name => !/;\s*q=0(\.0+)?\s*$/.test(name))
  const known = new Set(names.map(name => name.split(';', 1)[0]!.trim().toLowerCase()))
  return (['br', 'gzip'] as const).find(encoding => known.has(encoding) && encoded[encoding] !== undefined)
}

const REFERENCE = '<a href="/docs">The reference of the API</a>'
const BUILDING = plainPage({
  title: 'The console is being built',
  text: 'This happens once, at the first start of a checkout, and takes some seconds. This page then reloads itself. The API is already available.',
  link: REFERENCE,
  againSeconds: 2,
})
const NOT_BUILT = plainPage({
  title: 'The console is not built',
  text: 'The build failed; the server’s log says why. <code>npm run console</code> repeats it. The API is available nevertheless.',
  link: REFERENCE,
  againSeconds: 10,
})
