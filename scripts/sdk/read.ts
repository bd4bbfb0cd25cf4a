import { globSync } from 'node:fs'
import { buildOpenApi } from '../../src/http/openapi.ts'
import { listRoutes } from '../../src/http/routes.ts'
import { generateTypes, type OpenApi } from './generate.ts'

export const SDK_TYPES = new URL('../../sdk/api.ts', import.meta.url)

/** What `sdk/api.ts` has to say, from the table of routes and the names that the contract gives its schemas. */
export async function sdkTypes(): Promise<string> {
  // Nothing is asked of what a route needs until somebody calls it.
  const routes = listRoutes({} as Parameters<typeof listRoutes>[0], { version: '0.0.0' })
  const openApi = plain(buildOpenApi(routes, { version: '0.0.0' })) as OpenApi
  return generateTypes(openApi, await contractNames())
}

/** Objects alone: of two strings with the same limits one is seldom meant by the other's name. */
async function contractNames(): Promise<Map<string, Record<string, unknown>>> {
  const named = new Map<string, Record<string, unknown>>()
  for (const file of globSync('src/contract/*.ts').sort()) {
    const exported = (await import(new URL(`../../${file}`, import.meta.url).href)) as Record<string, unknown>
    for (const [name, value] of Object.entries(exported)) {
      if (isObjectSchema(value)) named.set(name, plain(value) as Record<string, unknown>)
      if (isWords(value)) named.set(singular(name), { enum: plain(value) })
    }
  }
  return named
}

function isObjectSchema(value: unknown): value is { type: 'object'; properties: object } {
  const schema = value as { type?: unknown; properties?: unknown } | null
  return typeof schema === 'object' && schema?.type === 'object' && typeof schema.properties === 'object'
}

/** The words of an enum, such as CHANNELS. */
function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.length > 1 && value.every(word => typeof word === 'string')
}

/** CHANNELS are each a Channel, MESSAGE_STATUSES a MessageStatus. */
function singular(name: string): string {
  const one = name
    .replace(/IES$/, 'Y')
    .replace(/(?<=STATUS)ES$|(?<!STATU)S$/, '')
    .toLowerCase()
  return one.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Without what the schema library keeps beside the schema. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
