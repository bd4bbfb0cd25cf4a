import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'

/**
 * A webhook receiver that takes a second for each request, as a program of its own. Prints its port; for each
 * line of input, prints the number of requests answered, and the ages of the events, in ms, that arrived
 * since the last line.
 */
const TAKES_MS = 1_000
let answered = 0
let lagsMs: number[] = []

const server = createServer(async (request, response) => {
  const arrivedMs = Date.now()
  const { timestamp } = (await json(request)) as { timestamp: string }
  lagsMs.push(arrivedMs - Date.parse(timestamp))
  setTimeout(() => {
    answered++
    response.writeHead(204).end()
  }, TAKES_MS)
})
server.listen(0, '127.0.0.1', async () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
  for await (const _ of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify({ answered, lagsMs }))
    lagsMs = []
  }
  process.exit(0)
})
