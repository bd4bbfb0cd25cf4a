import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pause, systemClock } from '../../src/lib/clock.ts'

/** In a thread of its own, so that it answers while this one stands still; each answer is counted once it has left. */
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

/** Asks the peer, and lets nothing of this process run until the answer is there and the time is over. */
function standStillPast(delayMs: number): void {
  const before = Atomics.load(answered, 0)
  const fromMs = systemClock.monotonic()
  socket.write('?')
  Atomics.wait(answered, 0, before)
  while (systemClock.monotonic() - fromMs <= delayMs);
}

test('an answer that came while the process stood still is heard before the time for it is over', async () => {
  const heard: string[] = []
  const answer = once(socket, 'data').then(() => heard.push('answer'))
  const over = new Promise<void>(resolve => {
    systemClock.after(2, () => {
      heard.push('over')
      resolve()
    })
  })
  standStillPast(10)
  await Promise.all([answer, over])
  expect(heard).toEqual(['answer', 'over'])
})

test('and ends the wait', async () => {
  let over = false
  const cancel = systemClock.after(2, () => {
    over = true
  })
  socket.once('data', cancel)
  standStillPast(10)
  await pause(systemClock, 0)
  expect(over).toBe(false)
})
