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

/** What nodemailer leaves on the envelope that it was given: the refusals of its sender and of its recipient. */
type Envelope = { mailError?: SmtpFault; rejectedErrors?: SmtpFault[] }

/** Of the last connection that was given the mail. */
type Progress = { ended: boolean; envelope: Envelope }

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
      const progress: Progress = { ended: false, envelope: {} }
      return new Promise(resolve => {
        pool.send(poolMail(mail, signal, progress), (error, info) => {
          if (error) return resolve({ fault: faultOf(error, progress), ended: progress.ended })
          const { response: reply = '', serverMessageId = null, ehlo: extensions = [] } = info ?? {}
          resolve({ reply, serverMessageId, extensions, ended: progress.ended })
        })
      })
    },
    close: () => pool.close({ force: true }),
  }
}

/**
 * A server may refuse the sender or the recipient and hang up (`drop` in Exim, 521 in Postfix). Where the commands
 * went out together nodemailer waits for the answer to the last of them, and then knows of a lost connection alone.
 */
function faultOf(error: Error, { ended, envelope }: Progress): SmtpFault {
  const refusal = envelope.mailError ?? envelope.rejectedErrors?.[0]
  // By 421 the server says that it hangs up, and nothing of the mail.
  return refusal === undefined || ended || refusal.responseCode === 421 ? (error as SmtpFault) : refusal
}

function poolMail(mail: Mail, signal: AbortSignal, progress: Progress): PoolMail {
  const message = {
    getEnvelope() {
      const envelope = { from: mail.from, to: [mail.to], size: mail.bytes.length }
      progress.envelope = envelope as Envelope
      return envelope
    },
    messageId: () => mail.messageId,
    getHeader: () => mail.messageId,
    // Called anew where the pool found its connection dead before a byte had left.
    createReadStream: () => trackedStream(mail.bytes, progress),
  }
  return { data: { signal }, message } as unknown as PoolMail
}

/** `end` comes when the last piece was taken, just before the connection writes the final dot. */
function trackedStream(bytes: Buffer, progress: Progress): Readable {
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
