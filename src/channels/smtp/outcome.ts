import type { LinkState, Outcome, Outgoing } from '../provider.ts'
import type { MailError } from './message.ts'

/** The fields of a nodemailer error; each may be missing. */
export type SmtpFault = {
  code?: string | undefined
  originalCode?: string | undefined
  command?: string | undefined
  responseCode?: number | undefined
  response?: string | undefined
}

/** Pause after a temporary refusal such as greylisting, multiplied by the attempt's number. */
const GREYLIST_MS = 60_000

/** Replies about our login or TLS, not about the mail, to whatever command they answer (RFC 4954, RFC 3207). */
const LOGIN_REPLIES = new Set([530, 534, 535, 538])

/** The same, but only in answer to the login or STARTTLS: in answer to a mail, large services use them for "too fast". */
const TEMPORARY_LOGIN_REPLIES = new Set([432, 454])

const GREYLISTED = /gr[ea]y-?list/i
const MAILBOX_CODE = /^4\d\d[ -]4\.(?:1\.(?:[1-6]|10)|2\.\d{1,3})\b/

/** How long the lane rests after "too fast", and after "the daily quota is used up". */
const THROTTLE_MS = 1_000
const QUOTA_MS = 600_000

/** Characters of a reply that are kept. */
const MAX_REPLY_LENGTH = 300

/** No mail could be composed: final, unless a file may be readable later. */
export function outcomeOfMailError(unmailable: MailError): Outcome {
  const { fault, detail } = unmailable
  if (fault === 'recipient') return { kind: 'rejected', code: 'RECIPIENT_REJECTED', detail }
  if (fault === 'sender') return { kind: 'rejected', code: 'SENDER_REJECTED', detail }
  if (fault === 'file_later') return { kind: 'retry', detail, notAsked: true }
  return { kind: 'rejected', code: 'MESSAGE_REJECTED', detail }
}

/** The server does not accept non-ASCII addresses; nothing was sent to it. */
export function outcomeOfNonAscii(isRecipient: boolean): Outcome {
  const whose = isRecipient ? 'recipient’s' : 'sender’s'
  const detail = `The ${whose} address is not ASCII, and the server does not support SMTPUTF8.`
  return { kind: 'rejected', code: isRecipient ? 'RECIPIENT_REJECTED' : 'SENDER_REJECTED', detail }
}

const INVALID_REPLY: Outcome = {
  kind: 'unknown',
  detail: 'The server’s reply to the mail is neither a valid success nor a refusal.',
}

/**
 * Only a 2xx to a mail whose end was written means that it was taken. Anything else here (a 2xx before the
 * end, a text that is no reply, lines that contradict each other) is `unknown`.
 */
export function outcomeOfReply(
  message: Outgoing,
  reply: string,
  providerId: string,
  ended: boolean,
): Outcome {
  if (!ended || !/^2\d\d(?:[ -]|$)/.test(reply) || isContradictory(reply)) {
    return INVALID_REPLY
  }
  return { kind: 'accepted', providerId, code: storedReply(message, reply) }
}

/** All lines of a reply have the same code (RFC 5321, 4.2.1); the library goes by the first one. */
function isContradictory(reply: string): boolean {
  const classes = reply.match(/^[2-5](?=\d\d(?:[ -]|$))/gm) ?? []
  return new Set(classes).size > 1
}

/**
 * A fault before the end of the mail was written proves that it was not taken: a server must
 * not keep half a mail (RFC 5321, 4.1.1.4). After it, only a whole 4xx or 5xx reply does.
 */
export function outcomeOfFault(message: Outgoing, fault: SmtpFault, ended: boolean): Outcome {
  const status = fault.responseCode ?? 0
  const answered = status >= 400 && status < 600
  if (ended && fault.code !== 'EMESSAGE') {
    return {
      kind: 'unknown',
      detail: `The connection was lost before the server's final reply (${faultName(fault)}).`,
    }
  }
  if (ended && (!answered || isContradictory(fault.response ?? ''))) return INVALID_REPLY
  if (!answered) return localFault(fault)
  const providerCode = codesOf(fault.response ?? String(status))
  const detail = `The server answered: ${storedReply(message, fault.response ?? String(status))}`
  const tooFast = throttleMsOf(fault)
  if (tooFast !== null) return { kind: 'throttled', afterMs: tooFast, detail, providerCode }
  if (isAboutLogin(fault)) {
    // The operator can fix the login: a final rejection would lose the mail.
    return { kind: 'retry', detail: `The server refuses our login (${providerCode}).`, providerCode }
  }
  if (status < 500) {
    const later = {
      kind: 'retry',
      detail,
      providerCode,
      ...(isAboutRecipient(fault) && { fault: 'recipient' as const }),
    } as const
    return needsLongerDelay(fault) ? { ...later, afterMs: GREYLIST_MS * Math.max(1, message.attempt) } : later
  }
  return refusal(fault, detail, providerCode)
}

/** A fault without a reply: no connection, no TLS, no DNS record, or an error of nodemailer itself. */
function localFault(fault: SmtpFault): Outcome {
  if (fault.code === 'EMESSAGE' && fault.command === 'MAIL FROM') {
    return {
      kind: 'rejected',
      code: 'MESSAGE_REJECTED',
      detail: 'The mail is larger than the server accepts.',
    }
  }
  return { kind: 'retry', detail: `The mail did not reach the server (${faultName(fault)}).` }
}

function refusal(fault: SmtpFault, detail: string, providerCode: string): Outcome {
  // "Bad sequence of commands" is about the session: a new one may succeed.
  if (fault.responseCode === 503 || !isAboutMail(fault)) return { kind: 'retry', detail, providerCode }
  if (fault.command === 'RCPT TO')
    return { kind: 'rejected', code: 'RECIPIENT_REJECTED', detail, providerCode }
  const tooLarge = fault.responseCode === 552 || /^\d{3}[ -]5\.3\.4/.test(fault.response ?? '')
  if (fault.command === 'MAIL FROM' && !tooLarge) {
    return { kind: 'rejected', code: 'SENDER_REJECTED', detail, providerCode }
  }
  return { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode }
}

/** Whether the server refuses our login, or wants one or TLS, to whatever command it says so. */
function isAboutLogin(fault: SmtpFault): boolean {
  const status = fault.responseCode ?? 0
  if (fault.code === 'EAUTH' || LOGIN_REPLIES.has(status)) return true
  return TEMPORARY_LOGIN_REPLIES.has(status) && !isAboutMail(fault)
}

/** False for a 5xx to the greeting, EHLO or STARTTLS, which says nothing about the mail. */
function isAboutMail(fault: SmtpFault): boolean {
  return fault.code === 'EENVELOPE' || fault.code === 'EMESSAGE'
}

/**
 * What a fault shows about the server: up where it answers to a mail or says "too fast", down where it refuses our login or
 * takes no connection. Null for our own abort, which says nothing about it, and for a connection lost after a whole mail:
 * the server was reached, and may have closed it for that mail.
 */
export function stateAfterFault(fault: SmtpFault, ended: boolean): LinkState | null {
  const { code, responseCode, originalCode } = fault
  if (code === 'EABORT' || code === undefined || (ended && code !== 'EMESSAGE')) return null
  const isUp = throttleMsOf(fault) !== null || (isAboutMail(fault) && !isAboutLogin(fault))
  if (isUp) return { state: 'up', detail: 'answers' }
  const reply = responseCode ? `, reply ${responseCode}` : ''
  return { state: 'down', detail: `${originalCode ?? code}${reply}` }
}

/**
 * How long to rest where the reply is a documented "too fast", to whichever command: of Amazon SES
 * (https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html), of Exchange Online
 * (https://learn.microsoft.com/exchange/troubleshoot/send-emails/smtp-submission-improvements) and of Gmail
 * (https://support.google.com/a/answer/3726730). Null for any other.
 */
function throttleMsOf({ response = '' }: SmtpFault): number | null {
  if (QUOTA_USED.some(each => each.test(response))) return QUOTA_MS
  if (/^454[ -](?:4\.\d\.\d{1,3} )?throttling failure/i.test(response))
    return /quota/i.test(response) ? QUOTA_MS : THROTTLE_MS
  return /^4\d\d[ -]4\.3\.2 .*(?:concurrent connections? limit|sender thread limit) exceeded/i.test(response)
    ? THROTTLE_MS
    : null
}

/**
 * The sender's quota is used up: the mail can go later, at the latest the next day, although the reply code says
 * "permanent". Mail hosts that check it with Postfix answer so to the recipient, who is not at fault.
 */
const QUOTA_USED = [
  /^550[ -](?:5\.4\.5 daily (?:user )?sending (?:limit|quota)|5\.7\.1 daily smtp relay (?:sending )?limit) exceeded/i,
  /^550[ -](?:5\.4\.5 .*sending quota exceeded|5\.4\.6 mail rate exceeded limit)/i,
  /^550[ -]5\.1\.90 .*daily limit for message recipients|^554[ -]5\.2\.0 .*SubmissionQuotaExceeded/i,
]

/**
 * A temporary refusal that is about this recipient, by the codes of addresses and mailboxes or by greylisting: others may be
 * accepted. The codes x.1.7 and x.1.8 are about the sender.
 */
function isAboutRecipient({ command, response = '' }: SmtpFault): boolean {
  return command === 'RCPT TO' && (MAILBOX_CODE.test(response) || GREYLISTED.test(response))
}

/** Greylisting, or a full mailbox: a try within a minute would get the same answer. */
function needsLongerDelay({ response = '', responseCode }: SmtpFault): boolean {
  return /^45[0-2][ -]4\.7\./.test(response) || GREYLISTED.test(response) || responseCode === 452
}

/**
 * Servers may quote subject and body in their replies. For a mail that carries a one-time code, only the
 * reply's codes are kept.
 */
function storedReply(message: Outgoing, reply: string): string {
  if (message.messageType === 'otp') return codesOf(reply)
  return reply.replace(/[^\x20-\x7e\u00a0-\uffff]+/g, ' ').slice(0, MAX_REPLY_LENGTH)
}

/** Such as `550 5.1.1`, or `550` without an enhanced code. */
function codesOf(reply: string): string {
  return /^\d{3}(?:[ -]\d\.\d{1,3}\.\d{1,3})?/.exec(reply)?.[0].replace('-', ' ') ?? ''
}

function faultName(fault: SmtpFault): string {
  return fault.originalCode ?? fault.code ?? 'no code'
}
