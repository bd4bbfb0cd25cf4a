import { createServer, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'

/**
 * The part of WhatsApp's Graph API that a message with a file needs, as a process of its own: it accepts
 * everything, stores nothing, and approves at once. Prints its port, and for each line of input its counts so
 * far.
 */
const counts = { messages: 0, files: 0, fileBytes: 0 }

async function answer(request: IncomingMessage): Promise<object> {
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  const path = request.url!.split('?', 1)[0]!
  if (path.endsWith('/uploads')) return { id: 'upload:bench' }
  if (path.includes('upload:')) return { h: 'bench' }
  if (path.endsWith('/message_templates'))
    return { id: '1', status: 'APPROVED', category: 'UTILITY', data: [] }
  if (path.endsWith('/media')) {
    counts.files++
    counts.fileBytes += bytes
    return { id: '2' }
  }
  if (path.endsWith('/messages')) return { messages: [{ id: `wamid.${++counts.messages}` }] }
  return { id: '3' }
}

const server = createServer(async (request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify(await answer(request)))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(JSON.stringify({ port: typeof address === 'object' ? address!.port : 0 }))
})
const questions = createInterface({ input: process.stdin })
questions.on('line', () => console.log(JSON.stringify(counts)))
questions.on('close', () => process.exit(0))
