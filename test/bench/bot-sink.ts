import { createServer, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'

/**
 * The part of Telegram's Bot API that an idle bot needs, as a process of its own: it accepts every token, and
 * answers each long poll after its time-out without updates. Prints its port, and for each line of input the
 * number of waiting bots.
 */
const waiting = new Set<IncomingMessage>()

async function readBody(request: IncomingMessage): Promise<{ timeout?: number }> {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text || '{}')
}

async function answer(request: IncomingMessage): Promise<unknown> {
  const [, number, method] = /^\/bot(\d+):[^/]+\/(\w+)$/.exec(request.url!) ?? []
  const { timeout = 0 } = await readBody(request)
  if (method === 'getMe')
    return { id: Number(number), is_bot: true, first_name: 'Bench', username: `bench_${number}` }
  if (method !== 'getUpdates') return true
  waiting.add(request)
  await new Promise<void>(resolve => {
    const timer = setTimeout(resolve, timeout * 1_000)
    request.socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  waiting.delete(request)
  return []
}

const server = createServer(async (request, response) => {
  const result = await answer(request)
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ ok: true, result }))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(JSON.stringify({ port: typeof address === 'object' ? address!.port : 0 }))
})
const questions = createInterface({ input: process.stdin })
questions.on('line', () => console.log(JSON.stringify({ waiting: waiting.size })))
questions.on('close', () => process.exit(0))
