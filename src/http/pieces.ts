import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * Responds with `data`, the list of all pieces, and with `others` beside it. A list of one piece is a body like any other.
 * A longer one is sent piece by piece, as fast as the client reads it: neither the list nor its text is ever in
 * memory as a whole. If a piece after the second fails, the connection is cut.
 */
export async function answerInPieces<Item>(
  reply: FastifyReply,
  pieces: AsyncGenerator<Item[], void>,
  others: object,
): Promise<unknown> {
  const first = await pieces.next()
  const second = await pieces.next()
  if (second.done) return { data: first.value ?? [], ...others }
  const text = write(join([first.value ?? [], second.value], pieces), others)
  reply.type('application/json; charset=utf-8')
  return reply.send(Readable.from(text, { highWaterMark: 1 }))
}

async function* join<Item>(
  read: readonly Item[][],
  unread: AsyncGenerator<Item[], void>,
): AsyncGenerator<Item[], void> {
  yield* read
  yield* unread
}

async function* write<Item>(pieces: AsyncGenerator<Item[], void>, others: object): AsyncGenerator<string> {
  let separator = '{"data":['
  for await (const piece of pieces) {
    if (piece.length === 0) continue
    yield separator + JSON.stringify(piece).slice(1, -1)
    separator = ','
  }
  const rest = JSON.stringify(others).slice(1)
  yield `${separator === ',' ? '' : separator}]${rest === '}' ? '' : ','}${rest}`
}
