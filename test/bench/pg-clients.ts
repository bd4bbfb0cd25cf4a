import { connect } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * Replaces pgbench where it is not installed: clients that execute a prepared statement, one transaction
 * after the other, over PostgreSQL's protocol. A program of its own: prints `{}` when it is ready; then takes
 * plans as lines of JSON on standard input, and prints the result of each as a line of JSON:
 *
 *     node test/bench/pg-clients.ts
 */
export type ClientsPlan = {
  /** The server's socket; it lets `user` in without a password. */
  socket: string
  user: string
  database: string
  clients: number
  accounts: number
  /** Takes an account from 1, a number, and the body. */
  statement: string
  body: string
  seconds: number
}

async function run(plan: ClientsPlan): Promise<{ transactions: number; tookMs: number }> {
  const startedMs = performance.now()
  const counts = await Promise.all(
    Array.from({ length: plan.clients }, () => talk(plan, startedMs + plan.seconds * 1_000)),
  )
  return {
    transactions: counts.reduce((sum, count) => sum + count, 0),
    tookMs: performance.now() - startedMs,
  }
}

/** Runs one client; resolves with the number of its transactions. */
function talk(plan: ClientsPlan, untilMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(plan.socket)
    let held: Buffer = Buffer.alloc(0)
    let transactions = -2

    /** Called for each ReadyForQuery: after the startup, after the Parse, and after each transaction. */
    function ready(): void {
      transactions++
      if (transactions === -1) socket.write(Buffer.concat([parse(plan.statement), message('S')]))
      else if (performance.now() < untilMs) socket.write(call(plan))
      else {
        socket.end(message('X'))
        resolve(transactions)
      }
    }

    socket.on('connect', () => socket.write(startup(plan)))
    socket.on('error', reject)
    socket.on('data', chunk => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      while (held.length >= 5 && held.length >= 1 + held.readInt32BE(1)) {
        const end = 1 + held.readInt32BE(1)
        const type = String.fromCharCode(held[0]!)
        if (type === 'E') reject(new Error(held.toString('utf8', 5, end).replaceAll('\0', ' ')))
        held = held.subarray(end)
        if (type === 'Z') ready()
      }
    })
  })
}

function startup({ user, database }: ClientsPlan): Buffer {
  const body = text('user', user, 'database', database, '')
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + body.length, 0)
  // Version 3.0 of the protocol.
  head.writeInt32BE(196_608, 4)
  return Buffer.concat([head, body])
}

function parse(statement: string): Buffer {
  return message('P', text('send', statement), int16(0))
}

function call(plan: ClientsPlan): Buffer {
  const account = 1 + Math.floor(Math.random() * plan.accounts)
  const number = 15_112_000_000 + Math.floor(Math.random() * 10_000)
  const values = [String(account), String(number), plan.body].map(value => Buffer.from(value))
  const bind = message(
    'B',
    text('', 'send'),
    int16(0),
    int16(values.length),
    ...values.flatMap(value => [int32(value.length), value]),
    int16(0),
  )
  return Buffer.concat([bind, message('E', text(''), int32(0)), message('S')])
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(4 + body.length), body])
}

function text(...values: string[]): Buffer {
  return Buffer.from(values.map(value => `${value}\0`).join(''))
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

if (import.meta.main) {
  console.log('{}')
  for await (const line of createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await run(JSON.parse(line) as ClientsPlan)))
  }
}
