import { globSync } from 'node:fs'
import { buildOpenApi } from '../../src/http/openapi.ts'
import { listRoutes } from '../../src/http/routes.ts'
import { generateTypes, HEAD, type OpenApi } from './generate.ts'

export const SDK_TYPES = new URL('../../sdk/api.ts', import.meta.url)
export const SDK_WORDS = new URL('../../sdk/words.ts', import.meta.url)

/** What `sdk/api.ts` has to say, from the table of routes and the names that the contract gives its schemas. */
export async function sdkTypes(): Promise<string> {
  // Nothing is asked of what a route needs until somebody calls it.
  const routes = listRoutes({} as Parameters<typeof listRoutes>[0], { version: '0.0.0' })
  const openApi = plain(buildOpenApi(routes, { version: '0.0.0' })) as OpenApi
  return generateTypes(openApi, await contractNames())
}

/** What `sdk/words.ts` has to say: the words of every enum that `types` names, to be had at run time too. */
export async function sdkWords(types: string): Promise<string> {
  const lists = (await contractExports())
    .filter(([name, value]) => isWords(value) && types.includes(`export type ${singular(name)} =`))
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
  const names = lists.map(([name]) => singular(name)).toSorted()
  const constants = lists.map(([name, value]) => {
    const words = (value as string[]).map(word => `  '${word}',`)
    return `export const ${name} = [\n${words.join('\n')}\n] as const satisfies readonly ${singular(name)}[]\n`
  })
  return `${HEAD}import type { ${names.join(', ')} } from './api.ts'\n\n${constants.join('\n')}`
}

/** Objects alone: of two strings with the same limits one is seldom meant by the other's name. */
async function contractNames(): Promise<Map<string, Record<string, unknown>>> {
  const named = new Map<string, Record<string, unknown>>()
  for (const [name, value] of await contractExports()) {
    if (isObjectSchema(value)) named.set(name, plain(value) as Record<string, unknown>)
    if (isWords(value)) named.set(singular(name), { enum: plain(value) })
  }
  return named
}

async function contractExports(): Promise<[name: string, value: unknown][]> {
  const exported: [string, unknown][] = []
  for (const file of globSync('src/contract/*.ts').sort())
    exported.push(...Object.entries(await import(new URL(`../../${file}`, import.meta.url).href)))
  return exported
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
