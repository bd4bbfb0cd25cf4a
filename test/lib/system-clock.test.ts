import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pause, systemClock } from '../../src/lib/clock.ts'

/**
 * Runs in its own thread, so that it answers while this one is blocked; each answer is counted once it is
 * sent.
 */
const PEER = `
  const { createServer } = require('node:net')
  const { parentPort, workerData } = require('node:worker_threads')
  const server = createServer(socket => {
    socket.on('data', data => socket.write(data, () => {
      Atomics.add(workerData, 0, 1)
      Atomics.notify(workerData, 0)
    }))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`
const answered = new Int32Array(new SharedArrayBuffer(4))
let peer: Worker
let socket: Socket

beforeAll(async () => {
  peer = new Worker(PEER, { eval: true, workerData: answered })
  const [port] = (await once(peer, 'message')) as [number]
  socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
})

afterAll(async () => {
  socket.destroy()
  await peer.terminate()
})

/** Writes to the peer, and blocks this process until the answer has arrived and the delay is over. */
function blockPast(delayMs: number): void {
  const before = Atomics.load(answered, 0)
  const fromMs = systemClock.monotonic()
  socket.write('?')
  Atomics.wait(answered, 0, before)
  while (systemClock.monotonic() - fromMs <= delayMs);
}

test('data that arrived while the process was blocked is handled before an expired timer', async () => {
  const handled: string[] = []
  const answer = once(socket, 'data').then(() => handled.push('answer'))
  const over = new Promise<void>(resolve => {
    systemClock.after(2, () => {
      handled.push('over')
      resolve()
    })
  })
  blockPast(10)
  await Promise.all([answer, over])
  expect(handled).toEqual(['answer', 'over'])
})

test('data that arrived while the process was blocked can cancel an expired timer', async () => {
  let over = false
  const cancel = systemClock.after(2, () => {
    over = true
  })
  socket.once('data', cancel)
  blockPast(10)
  await pause(systemClock, 0)
  expect(over).toBe(false)
})
