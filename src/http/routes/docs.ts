import { createReadStream } from 'node:fs'
import Type from 'typebox'
import { buildOpenApi, type OpenApiInfo } from '../openapi.ts'
import { defineRoute, type Route } from '../route.ts'

const TAGS = ['Operations']

/** `GET /openapi.json`: built from the routes at the first request. */
export const openApiRead = (deps: { routes: () => readonly Route[]; info: OpenApiInfo }) => {
  let text: string | undefined
  return defineRoute({
    method: 'GET',
    url: '/openapi.json',
    auth: { public: true },
    schema: {
      summary: 'Read the OpenAPI document',
      tags: TAGS,
      response: { 200: Type.Object({}, { additionalProperties: true, description: 'OpenAPI 3.1.' }) },
    },
    handler(_request, reply) {
      text ??= JSON.stringify(buildOpenApi(deps.routes(), deps.info))
      reply.header('Content-Type', 'application/json; charset=utf-8')
      return text
    },
  })
}

/** The scripts are separate files, because the page's content security policy allows no inline scripts. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Posthorn API</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<script src="/docs/scalar.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

/** Nothing is loaded from other servers: fonts, proxy, telemetry and assistant are off. */
const START = `Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false
})
`

/** `GET /docs`: the page of the API reference. */
export const docsPage = () =>
  defineRoute({
    method: 'GET',
    url: '/docs',
    auth: { public: true },
    page: true,
    schema: { summary: 'Open the API reference', tags: TAGS, response: { 200: Type.String() } },
    handler(_request, reply) {
      reply.header('Content-Type', 'text/html; charset=utf-8')
      return PAGE
    },
  })

/** `GET /docs/start.js`: the script that starts the viewer. */
export const docsStart = () =>
  defineRoute({
    method: 'GET',
    url: '/docs/start.js',
    auth: { public: true },
    page: true,
    schema: { summary: 'Load the script of the API reference', tags: TAGS, response: { 200: Type.String() } },
    handler(_request, reply) {
      reply.header('Content-Type', 'text/javascript; charset=utf-8')
      return START
    },
  })

/** `GET /docs/scalar.js`: the viewer, streamed from the installed package. */
export const docsScript = () =>
  defineRoute({
    method: 'GET',
    url: '/docs/scalar.js',
    auth: { public: true },
    page: true,
    schema: { summary: 'Load the viewer of the API reference', tags: TAGS, response: { 200: Type.String() } },
    handler(_request, reply) {
      const file = new URL('./js/standalone.js', import.meta.resolve('@scalar/fastify-api-reference'))
      reply.header('Content-Type', 'text/javascript; charset=utf-8')
      reply.header('Cache-Control', 'public, max-age=3600')
      return createReadStream(file)
    },
  })
