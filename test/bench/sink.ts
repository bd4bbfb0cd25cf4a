import { fileURLToPath } from 'node:url'
import { startChild } from './child.ts'

const FILE = fileURLToPath(new URL('../support/smpp-sink.ts', import.meta.url))

/** An SMSC that answers at once, in a process of its own. */
export type Sink = {
  pid: number
  port: number
  /** The number of messages that it has received so far. */
  submits(): Promise<number>
  stop(): Promise<void>
}

export async function startSink(options: { receipts: boolean }): Promise<Sink> {
  const child = await startChild(FILE, options.receipts ? ['--receipts'] : [])
  return {
    pid: child.pid,
    port: (child.ready as { port: number }).port,
    submits: async () => ((await child.ask('stats')) as { submits: number }).submits,
    stop: child.stop,
  }
}
