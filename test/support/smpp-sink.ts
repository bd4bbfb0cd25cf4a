import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import {
  COMMAND,
  createPduWriter,
  ESM_DELIVERY_RECEIPT,
  responseTo,
  type ShortMessage,
  TLV,
  writeHeaderOnly,
  writeIdResponse,
  writeShortMessage,
} from '../../src/channels/smpp/pdu.ts'
import { createFramer, type Pdu, readPdu } from '../../src/channels/smpp/pdu-read.ts'
import { listen } from './loopback.ts'

/**
 * An SMSC for measuring: accepts every bind and every message, answers at once, and sends delivery receipts
 * if asked to. It keeps only counts.
 *
 * As a program it prints `{"port":…}` on standard output, answers the line `stats` on standard input with its
 * counts as JSON, and ends with its input:
 *
 *     node test/support/smpp-sink.ts [--receipts] [--port=0]
 */
export type SmppSink = {
  port: number
  counts(): SinkCounts
  close(): Promise<void>
}

export type SinkCounts = { submits: number; receipts: number; receiptsAcknowledged: number; binds: number }

async function startSmppSink(options: { receipts?: boolean; port?: number } = {}): Promise<SmppSink> {
  const counts: SinkCounts = { submits: 0, receipts: 0, receiptsAcknowledged: 0, binds: 0 }
  const sockets = new Set<Socket>()
  /** Connections that take receipts, which are sent to them in turn. */
  const receivers: ((message: ShortMessage, id: string) => void)[] = []
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    serve(socket)
  })

  function serve(socket: Socket): void {
    const writer = createPduWriter()
    const framer = createFramer()
    let flushing = false
    let sequence = 0
    let deliver: ((message: ShortMessage, id: string) => void) | null = null

    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      if (!framer.feed(chunk, take)) socket.destroy()
    })
    socket.on('close', () => {
      if (deliver) receivers.splice(receivers.indexOf(deliver), 1)
    })

    function flushSoon(): void {
      if (flushing) return
      flushing = true
      setImmediate(() => {
        flushing = false
        const bytes = writer.take()
        if (bytes) socket.write(bytes)
      })
    }

    function take(frame: Buffer): boolean {
      const pdu = readPdu(frame)
      if (pdu.kind === 'malformed') return false
      answer(pdu)
      flushSoon()
      return true
    }

    function answer(pdu: Pdu): void {
      if (pdu.kind === 'bind') {
        counts.binds++
        writeIdResponse(writer, responseTo(pdu.command), 0, pdu.sequence, 'sink')
        if (pdu.command !== COMMAND.bindTransmitter) {
          deliver = sendReceipt
          receivers.push(deliver)
        }
      } else if (pdu.kind === 'message') {
        const id = String(++counts.submits)
        writeIdResponse(writer, responseTo(pdu.command), 0, pdu.sequence, id)
        if (options.receipts) receivers[counts.submits % receivers.length]?.(pdu.message, id)
      } else if (pdu.command === responseTo(COMMAND.deliverSm)) {
        if (pdu.status === 0) counts.receiptsAcknowledged++
      } else if (pdu.command === COMMAND.enquireLink || pdu.command === COMMAND.unbind) {
        writeHeaderOnly(writer, responseTo(pdu.command), 0, pdu.sequence)
      }
    }

    function sendReceipt(message: ShortMessage, id: string): void {
      counts.receipts++
      writeShortMessage(writer, COMMAND.deliverSm, ++sequence, receiptFor(message, id), receiptTlvs(id))
      flushSoon()
    }
  }

  const port = await listen(server, options.port)
  return {
    port,
    counts: () => ({ ...counts }),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function receiptFor(message: ShortMessage, id: string): ShortMessage {
  const text = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:`
  return {
    ...message,
    source: message.dest,
    dest: message.source,
    esmClass: ESM_DELIVERY_RECEIPT,
    dataCoding: 0,
    udh: null,
    body: Buffer.from(text, 'latin1'),
  }
}

function receiptTlvs(id: string): ReadonlyMap<number, Buffer> {
  return new Map([
    [TLV.receiptedMessageId, Buffer.from(`${id}\0`, 'latin1')],
    [TLV.messageState, Buffer.from([2])],
  ])
}

async function main(args: readonly string[]): Promise<void> {
  const portArgument = args.find(argument => argument.startsWith('--port='))
  const sink = await startSmppSink({
    receipts: args.includes('--receipts'),
    port: Number(portArgument?.slice('--port='.length) ?? 0),
  })
  console.log(JSON.stringify({ port: sink.port }))
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stats') console.log(JSON.stringify(sink.counts()))
  }
  await sink.close()
}

if (import.meta.main) await main(process.argv.slice(2))
