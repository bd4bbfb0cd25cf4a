import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * A webhook receiver that takes a second for each request. A program of its
 * own; prints its port, and for each line of input how many it has answered.
 */
const TAKES_MS = 1_000
let answered = 0
const seen = new Set<string>()

const server = createServer((request, response) => {
  request.resume()
  seen.add(String(request.headers['webhook-id']))
  setTimeout(() => {
    answered++
    response.writeHead(204).end()
  }, TAKES_MS)
})
server.listen(0, '127.0.0.1', async () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }))
  for await (const _ of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify({ answered, distinct: seen.size }))
  }
  process.exit(0)
})
