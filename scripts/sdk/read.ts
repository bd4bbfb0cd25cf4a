import { globSync } from 'node:fs'
import { buildOpenApi } from '../../src/http/openapi.ts'
import { listRoutes } from '../../src/http/routes.ts'
import { generateTypes, HEAD, type OpenApi } from './generate.ts'

export const SDK_TYPES = new URL('../../sdk/api.ts', import.meta.url)
export const SDK_WORDS = new URL('../../sdk/words.ts', import.meta.url)

/** The content of `sdk/api.ts`, from the table of routes and the names of the contract's schemas. */
export async function sdkTypes(): Promise<string> {
  // The dependencies of the routes are not used before a handler is called.
  const routes = listRoutes({} as Parameters<typeof listRoutes>[0], { version: '0.0.0' })
  const openApi = plain(buildOpenApi(routes, { version: '0.0.0' })) as OpenApi
  return generateTypes(openApi, await contractNames())
}

/** The content of `sdk/words.ts`: the values of every enum in `types`, for use at run time. */
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

/** Only object schemas and enums: two string schemas with the same limits seldom mean the same. */
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

/** Whether it is the list of an enum's values, such as CHANNELS. */
function isWords(value: unknown): boolean {
  return Array.isArray(value) && value.length > 1 && value.every(word => typeof word === 'string')
}

/** The type's name for a list: Channel for CHANNELS, MessageStatus for MESSAGE_STATUSES. */
function singular(name: string): string {
  const one = name
    .replace(/IES$/, 'Y')
    .replace(/(?<=STATUS)ES$|(?<!STATU)S$/, '')
    .toLowerCase()
  return one.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** Removes what the schema library adds to a schema. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
