import type { PriceRow } from '../contract/admin.ts'
import type { Body, Client } from './client.ts'
import { clientCommand } from './client-command.ts'
import { readJsonFile } from './files.ts'
import { PAGE_OPTIONS, pageQuery } from './query.ts'
import { table } from './show.ts'

export const list = clientCommand({
  usage: 'price list [--limit 50] [--cursor CURSOR]   (the whole list when neither is given)',
  argCount: 0,
  options: PAGE_OPTIONS,
  call: given =>
    given.text('limit') === undefined && given.text('cursor') === undefined
      ? wholeList(given.client)
      : given.client.admin('GET', `/prices${pageQuery(given)}`),
  show: answer =>
    table(
      ['channel', 'destination', 'type', 'price', 'currency'],
      (answer['data'] as PriceRow[]).map(({ channel, country, prefix, messageType, price, currency }) => [
        channel,
        prefix === null ? country : `+${prefix}`,
        messageType,
        price,
        currency,
      ]),
    ),
})

/** The file contains what `price list --json` prints, or the API's `{"prices": […]}`. */
export const importList = clientCommand({
  usage: 'price import FILE.json|-   (replaces the whole list)',
  argCount: 1,
  call({ client, args }) {
    const read = readJsonFile(args[0]!)
    return client.admin('PUT', '/prices', Array.isArray(read) ? { prices: read } : read)
  },
  show: answer => `${(answer['data'] as { prices: unknown[] }).prices.length} prices are stored.`,
})

/** Reads all pages: an incomplete list would delete prices when it is imported. */
async function wholeList(client: Client): Promise<Body> {
  const data: unknown[] = []
  let cursor: unknown = null
  do {
    const next = cursor === null ? '' : `&cursor=${encodeURIComponent(String(cursor))}`
    const page: Body = await client.admin('GET', `/prices?limit=500${next}`)
    data.push(...(page['data'] as unknown[]))
    cursor = page['nextCursor']
  } while (typeof cursor === 'string')
  return { success: true, data, nextCursor: null }
}
