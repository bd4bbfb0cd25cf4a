import { Readable } from 'node:stream'
import SMTPPool, { type Options as PoolOptions } from 'nodemailer/lib/smtp-pool'
import type { Mail } from './message.ts'
import type { SmtpFault } from './outcome.ts'

/** The result of sending a mail. `ended`: its last byte was written to the connection, so it may have been accepted. */
type SendResult =
  | { reply: string; serverMessageId: string | null; extensions: readonly string[]; ended: boolean }
  | { fault: SmtpFault; ended: boolean }

export type MailPool = {
  /** Hands one mail to a pooled connection; never rejects, and settles when `signal` aborts. */
  send(mail: Mail, signal: AbortSignal): Promise<SendResult>
  /** Cuts every connection; mails in progress settle as faults. */
  close(): void
}

/** The pool's mail, as nodemailer's transports read it. */
type PoolMail = Parameters<SMTPPool['send']>[0]

/** nodemailer notes the refusals of sender and recipient on the envelope object that it was given. */
type Envelope = { mailError?: SmtpFault; rejectedErrors?: SmtpFault[] }

/** On the latest connection that got the mail: the pool may move it to another one. */
type Progress = { ended: boolean; envelope: Envelope }

/** The mail is written in pieces, so that `ended` is set only near the real end of a large one. */
const CHUNK_BYTES = 64 * 1024

/**
 * nodemailer's pool, given mails that are already encoded. A nodemailer transport takes an envelope
 * and a stream. We make that stream ourselves, and so know, when a connection is lost, whether it
 * may have carried the end of the mail.
 */
export function createMailPool(options: PoolOptions): MailPool {
  const pool = new SMTPPool(options)
  return {
    send(mail, signal) {
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
 * A server may refuse the sender or the recipient and hang up (`drop` in Exim, 521 in Postfix). With pipelined
 * commands, nodemailer waits for the answer to the last one, and then reports only the lost connection, not the refusal.
 */
function faultOf(error: Error, { ended, envelope }: Progress): SmtpFault {
  const refusal = envelope.mailError ?? envelope.rejectedErrors?.[0]
  // 421 says that the server closes the connection; it says nothing about the mail.
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
    // Called again when the pool's connection turned out to be dead before a byte was sent.
    createReadStream: () => trackedStream(mail.bytes, progress),
  }
  return { data: { signal }, message } as unknown as PoolMail
}

/** The stream's end means that the last piece was read, just before the connection writes the final dot. */
function trackedStream(bytes: Buffer, progress: Progress): Readable {
  let at = 0
  const stream = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (at >= bytes.length) return void this.push(null)
      this.push(bytes.subarray(at, at + CHUNK_BYTES))
      at += CHUNK_BYTES
    },
  })
  return stream.once('end', () => {
    progress.ended = true
  })
}
