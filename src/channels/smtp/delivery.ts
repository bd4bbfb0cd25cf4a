import { Readable } from 'node:stream'
import SMTPPool, { type Options as PoolOptions } from 'nodemailer/lib/smtp-pool'
import type { Mail } from './message.ts'
import type { SmtpFault } from './outcome.ts'

/** What became of a mail on the wire. `ended`: its last byte was handed to the connection. */
export type Delivery =
  | { reply: string; serverMessageId: string | null; extensions: readonly string[]; ended: boolean }
  | { fault: SmtpFault; ended: boolean }

export type Deliveries = {
  /** Hands one mail to a pooled connection; never rejects, and settles when `signal` aborts. */
  deliver(mail: Mail, signal: AbortSignal): Promise<Delivery>
  /** Cuts every connection; what is under way settles as a fault. */
  close(): void
}

/** The pool's mail, as nodemailer's transports read it. */
type PoolMail = Parameters<SMTPPool['send']>[0]

/** Written in pieces, so that `ended` is not said of a large mail that has hardly begun. */
const PIECE_BYTES = 64 * 1024

/**
 * nodemailer's own pool, given finished mails. Its mail is an object with an envelope and a
 * stream (the contract of a nodemailer transport); making that stream ourselves is how we know
 * whether a lost connection may have carried the end of the mail.
 */
export function createDeliveries(options: PoolOptions): Deliveries {
  const pool = new SMTPPool(options)
  return {
    deliver(mail, signal) {
      const progress = { ended: false }
      return new Promise(resolve => {
        pool.send(poolMail(mail, signal, progress), (error, info) => {
          if (error) return resolve({ fault: error as SmtpFault, ended: progress.ended })
          const { response: reply = '', serverMessageId = null, ehlo: extensions = [] } = info ?? {}
          resolve({ reply, serverMessageId, extensions, ended: progress.ended })
        })
      })
    },
    close: () => pool.close({ force: true }),
  }
}

function poolMail(mail: Mail, signal: AbortSignal, progress: { ended: boolean }): PoolMail {
  const message = {
    getEnvelope: () => ({ from: mail.from, to: [mail.to], size: mail.bytes.length }),
    messageId: () => mail.messageId,
    getHeader: () => mail.messageId,
    // Called anew where the pool found its connection dead before a byte had left.
    createReadStream: () => trackedStream(mail.bytes, progress),
  }
  return { data: { signal }, message } as unknown as PoolMail
}

/** `end` comes when the last piece was taken, just before the connection writes the final dot. */
function trackedStream(bytes: Buffer, progress: { ended: boolean }): Readable {
  let at = 0
  const stream = new Readable({
    highWaterMark: PIECE_BYTES,
    read() {
      if (at >= bytes.length) return void this.push(null)
      this.push(bytes.subarray(at, at + PIECE_BYTES))
      at += PIECE_BYTES
    },
  })
  return stream.once('end', () => {
    progress.ended = true
  })
}
