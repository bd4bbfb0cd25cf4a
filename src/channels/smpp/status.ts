import type { Outcome, RejectCode } from '../provider.ts'

/** The command statuses that the code names. */
export const STATUS = {
  ok: 0x00,
  invalidCommandLength: 0x02,
  invalidCommand: 0x03,
  systemError: 0x08,
  bindFailed: 0x0d,
  invalidPassword: 0x0e,
  invalidSystemId: 0x0f,
  invalidSystemType: 0x53,
  invalidTlvs: 0xc0,
} as const

type Verdict = 'throttled' | 'retry' | RejectCode

/**
 * What the command_status of a refused submit_sm means (SMPP 3.4, 5.1.3). Any status but 0
 * is an explicit refusal, so the message was not taken:
 *
 * - `throttled`: we send too fast, the message is fine;
 * - `retry`: a fault of the SMSC, or of our bind;
 * - the others are final, with what is at fault.
 *
 * A status that is not listed, such as a vendor's own from 0x400 on, is final as
 * MESSAGE_REJECTED: a message that was refused for an unknown reason is not sent again.
 */
const STATUSES: ReadonlyMap<number, readonly [name: string, verdict: Verdict, text: string]> = new Map([
  [0x01, ['ESME_RINVMSGLEN', 'MESSAGE_REJECTED', 'The message has the wrong length.']],
  [
    0x02,
    ['ESME_RINVCMDLEN', 'MESSAGE_REJECTED', 'The SMSC could not read the request: its length is wrong.'],
  ],
  [0x03, ['ESME_RINVCMDID', 'MESSAGE_REJECTED', 'The SMSC does not know this request.']],
  [0x04, ['ESME_RINVBNDSTS', 'retry', 'The connection was not bound for sending.']],
  [0x05, ['ESME_RALYBND', 'retry', 'The connection was bound already.']],
  [0x06, ['ESME_RINVPRTFLG', 'MESSAGE_REJECTED', 'The priority is not valid.']],
  [0x07, ['ESME_RINVREGDLVFLG', 'MESSAGE_REJECTED', 'The registered_delivery flag is not valid.']],
  [0x08, ['ESME_RSYSERR', 'retry', 'The SMSC had an internal error.']],
  [0x0a, ['ESME_RINVSRCADR', 'SENDER_REJECTED', 'The sender is not allowed, or not well-formed.']],
  [0x0b, ['ESME_RINVDSTADR', 'RECIPIENT_REJECTED', 'The destination number is not valid, or not served.']],
  [0x0c, ['ESME_RINVMSGID', 'MESSAGE_REJECTED', 'The SMSC does not know this message id.']],
  [0x0d, ['ESME_RBINDFAIL', 'retry', 'The SMSC refused the bind.']],
  [0x0e, ['ESME_RINVPASWD', 'retry', 'The password is wrong.']],
  [0x0f, ['ESME_RINVSYSID', 'retry', 'The system id is wrong.']],
  [0x14, ['ESME_RMSGQFUL', 'throttled', 'The queue of the SMSC is full.']],
  [0x15, ['ESME_RINVSERTYP', 'MESSAGE_REJECTED', 'The service type is not valid for this account.']],
  [0x33, ['ESME_RINVNUMDESTS', 'RECIPIENT_REJECTED', 'The number of destinations is not valid.']],
  [0x34, ['ESME_RINVDLNAME', 'RECIPIENT_REJECTED', 'There is no such distribution list.']],
  [0x40, ['ESME_RINVDESTFLAG', 'RECIPIENT_REJECTED', 'The destination flag is not valid.']],
  [0x42, ['ESME_RINVSUBREP', 'MESSAGE_REJECTED', 'Replacing messages is not allowed.']],
  [0x43, ['ESME_RINVESMCLASS', 'MESSAGE_REJECTED', 'The esm_class is not valid for this account.']],
  [0x44, ['ESME_RCNTSUBDL', 'RECIPIENT_REJECTED', 'Submitting to the distribution list is not possible.']],
  [0x45, ['ESME_RSUBMITFAIL', 'MESSAGE_REJECTED', 'The SMSC could not submit the message.']],
  [0x48, ['ESME_RINVSRCTON', 'SENDER_REJECTED', 'The type of number (TON) of the sender is not valid.']],
  [0x49, ['ESME_RINVSRCNPI', 'SENDER_REJECTED', 'The numbering plan (NPI) of the sender is not valid.']],
  [
    0x50,
    ['ESME_RINVDSTTON', 'RECIPIENT_REJECTED', 'The type of number (TON) of the destination is not valid.'],
  ],
  [
    0x51,
    ['ESME_RINVDSTNPI', 'RECIPIENT_REJECTED', 'The numbering plan (NPI) of the destination is not valid.'],
  ],
  [0x53, ['ESME_RINVSYSTYP', 'MESSAGE_REJECTED', 'The system type is not valid for this account.']],
  [0x54, ['ESME_RINVREPFLAG', 'MESSAGE_REJECTED', 'Replacing if present is not allowed.']],
  [0x55, ['ESME_RINVNUMMSGS', 'MESSAGE_REJECTED', 'The number of messages is not valid.']],
  [0x58, ['ESME_RTHROTTLED', 'throttled', 'Messages are sent faster than the SMSC allows.']],
  [0x61, ['ESME_RINVSCHED', 'MESSAGE_REJECTED', 'The delivery time is not valid.']],
  [0x62, ['ESME_RINVEXPIRY', 'MESSAGE_REJECTED', 'The validity period is not valid.']],
  [0x63, ['ESME_RINVDFTMSGID', 'MESSAGE_REJECTED', 'The predefined message does not exist.']],
  [0x64, ['ESME_RX_T_APPN', 'retry', 'The receiver had a temporary error.']],
  [0x65, ['ESME_RX_P_APPN', 'MESSAGE_REJECTED', 'The receiver refused the message for good.']],
  [0x66, ['ESME_RX_R_APPN', 'MESSAGE_REJECTED', 'The receiver refused the message.']],
  [0xc0, ['ESME_RINVOPTPARSTREAM', 'MESSAGE_REJECTED', 'The optional parameters could not be read.']],
  [0xc1, ['ESME_ROPTPARNOTALLWD', 'MESSAGE_REJECTED', 'An optional parameter is not allowed.']],
  [0xc2, ['ESME_RINVPARLEN', 'MESSAGE_REJECTED', 'A parameter has the wrong length.']],
  [0xc3, ['ESME_RMISSINGOPTPARAM', 'MESSAGE_REJECTED', 'A parameter that the SMSC expects is missing.']],
  [0xc4, ['ESME_RINVOPTPARAMVAL', 'MESSAGE_REJECTED', 'An optional parameter has a wrong value.']],
  [0xfe, ['ESME_RDELIVERYFAILURE', 'MESSAGE_REJECTED', 'The message could not be delivered.']],
  [0xff, ['ESME_RUNKNOWNERR', 'retry', 'The SMSC had an unknown error.']],
])

/** A bind refused with one of these stays refused until the credentials are changed, here or at the SMSC. */
const CREDENTIAL_FAULTS: readonly number[] = [
  STATUS.bindFailed,
  STATUS.invalidPassword,
  STATUS.invalidSystemId,
  STATUS.invalidSystemType,
]

/** Whether a bind was refused because of our credentials, so that repeating it soon could lock the account. */
export function isCredentialFault(status: number): boolean {
  return CREDENTIAL_FAULTS.includes(status)
}

/** The name of a status in the specification, such as `ESME_RTHROTTLED`. */
export function statusName(status: number): string {
  return STATUSES.get(status)?.[0] ?? (status >= 0x400 ? 'a vendor-specific status' : 'an unknown status')
}

/** The stored and displayed form: `0x00000058`. */
export function statusCode(status: number): string {
  return `0x${status.toString(16).toUpperCase().padStart(8, '0')}`
}

/** The outcome of a submit that was answered with a status other than ok. */
export function outcomeOfRefusal(status: number, throttleMs: number): Outcome {
  const verdict = STATUSES.get(status)?.[1] ?? 'MESSAGE_REJECTED'
  const providerCode = statusCode(status)
  const detail = `refused with ${statusName(status)}`
  if (verdict === 'throttled') return { kind: 'throttled', afterMs: throttleMs, detail, providerCode }
  if (verdict === 'retry') return { kind: 'retry', detail, providerCode }
  return { kind: 'rejected', code: verdict, detail, providerCode }
}

const STORED = /^0x([0-9A-F]{8})$/

/** What a stored command status means; null for a vendor-specific one. */
export function explainStatus(code: string): string | null {
  const hex = STORED.exec(code)?.[1]
  return hex === undefined ? null : (STATUSES.get(Number.parseInt(hex, 16))?.[2] ?? null)
}
