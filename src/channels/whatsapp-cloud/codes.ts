import { explainStatus, type Meaning } from '../http/verdict.ts'
import { entryOf } from '../shared/table.ts'

/** Meanings beyond those of every provider, such as: the recipient has no account, or gets messages too often. */
export type GraphMeaning =
  | Meaning
  | { means: 'unregistered'; text: string }
  | { means: 'pair'; text: string }
  /** The recipient has opted out at WhatsApp. */
  | { means: 'opted out'; text: string }
  /** The template is paused or disabled: the message is refused, and the template's state has changed. */
  | { means: 'template'; text: string }
  /** By its documentation, the message may have been sent. */
  | { means: 'unclear'; text: string }

/**
 * The codes of the Cloud API, which "should be relied on rather than subcodes or HTTP statuses".
 * Source: https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes, and for 17, 32 and 613, which
 * any call of Graph may meet, https://developers.facebook.com/docs/graph-api/overview/rate-limiting. The guide
 * `docs/providers-whatsapp-cloud.md` shows the same table.
 */
const CODES: Readonly<Record<string, GraphMeaning>> = {
  '0': { means: 'operator', text: 'WhatsApp does not know the user of the access token.' },
  '1': {
    means: 'unclear',
    text: 'An invalid request, or a fault of the server: WhatsApp does not say which.',
  },
  '2': { means: 'later', text: 'WhatsApp is temporarily down or overloaded.' },
  '3': { means: 'operator', text: 'The access token lacks a capability.' },
  '4': { means: 'throttled', text: 'The app calls more often than it may.', afterMs: 60_000 },
  '10': { means: 'operator', text: 'The access token lacks a permission.' },
  '17': {
    means: 'throttled',
    text: 'The user of the access token calls more often than they may.',
    afterMs: 60_000,
  },
  '32': { means: 'throttled', text: 'The page calls more often than it may.', afterMs: 60_000 },
  '33': {
    means: 'operator',
    text: 'The business number does not exist, or the access token may not use it.',
  },
  '100': { means: 'message', text: 'A field is missing, misspelt or not valid.' },
  '190': { means: 'operator', text: 'The access token has expired or is not valid.' },
  '368': { means: 'operator', text: 'The account is restricted for violations of policy.' },
  '613': { means: 'throttled', text: 'The call is made more often than it may be.', afterMs: 60_000 },
  '80007': {
    means: 'throttled',
    text: 'The business account calls more often than it may.',
    afterMs: 60_000,
  },
  '80008': {
    means: 'throttled',
    text: 'The business account asks for its templates more often than it may.',
    afterMs: 60_000,
  },
  '130429': { means: 'throttled', text: 'More messages a second than the number may send.', afterMs: 1_000 },
  '130472': {
    means: 'recipient',
    text: 'The recipient is part of an experiment of WhatsApp and gets no marketing messages.',
  },
  '130497': { means: 'recipient', text: 'The account may not write to users in this country.' },
  '131000': { means: 'later', text: 'WhatsApp failed to send the message for an unknown reason.' },
  '131005': { means: 'operator', text: 'The access token lacks a permission.' },
  '131008': { means: 'message', text: 'A field that is required is missing.' },
  '131009': { means: 'message', text: 'A field has a value that is not valid.' },
  '131016': { means: 'later', text: 'The service is temporarily unavailable.' },
  '131021': { means: 'recipient', text: 'The recipient is the sender itself.' },
  '131026': {
    means: 'unregistered',
    text: 'Not deliverable: the recipient is not on WhatsApp, uses an old version, or has not accepted its terms.',
  },
  '131030': { means: 'recipient', text: 'A test number may only write to the numbers on its list.' },
  '131031': { means: 'operator', text: 'The account is locked.' },
  '131037': { means: 'operator', text: 'The number’s display name has not been approved.' },
  '131042': { means: 'operator', text: 'Something is wrong with the payment method of the account.' },
  '131045': { means: 'operator', text: 'The number is not registered, or its certificate is wrong.' },
  '131047': {
    means: 'message',
    text: 'More than 24 hours have passed since the recipient last wrote: only an approved template may be sent.',
  },
  '131048': {
    means: 'operator',
    text: 'The number is restricted, since too many of its messages were blocked.',
  },
  '131049': {
    means: 'recipient',
    text: 'WhatsApp does not deliver it, to limit the marketing messages that the recipient gets.',
  },
  '131050': {
    means: 'opted out',
    text: 'The recipient has opted out of marketing messages of this business.',
  },
  '131051': { means: 'message', text: 'The type of message is not supported.' },
  '131052': { means: 'message', text: 'The file could not be fetched.' },
  '131053': {
    means: 'message',
    text: 'The file could not be uploaded: its type is not supported, or its link fails.',
  },
  '131056': { means: 'pair', text: 'Too many messages to this recipient in a short time.' },
  '131057': { means: 'later', text: 'The account is in maintenance.', afterMs: 60_000 },
  '132000': {
    means: 'message',
    text: 'The number of values differs from the number of the template’s placeholders.',
  },
  '132001': { means: 'message', text: 'There is no approved template of this name and language.' },
  '132005': { means: 'message', text: 'The text with its values is too long.' },
  '132007': { means: 'message', text: 'The template’s text violates a policy.' },
  '132012': { means: 'message', text: 'A value does not have the format that the template requires.' },
  '132015': { means: 'template', text: 'The template is paused because of its low quality.' },
  '132016': { means: 'template', text: 'The template was paused too often and is disabled for good.' },
  '132018': { means: 'message', text: 'The values do not fit the template.' },
  '132068': { means: 'message', text: 'The flow of the template is blocked.' },
  '132069': { means: 'message', text: 'The flow of the template is throttled.' },
  '133004': { means: 'later', text: 'The server is temporarily unavailable.' },
  '133010': { means: 'operator', text: 'The business number is not registered.' },
  '135000': { means: 'message', text: 'The message could not be sent because of its parameters.' },
}

/** 200 to 299 all say that a permission is missing. */
const NO_PERMISSION: GraphMeaning = { means: 'operator', text: 'The access token lacks a permission.' }

/** What a code means; undefined for one that is not known. */
export function meaningOf(code: string): GraphMeaning | undefined {
  return entryOf(CODES, code) ?? (/^2\d\d$/.test(code) ? NO_PERMISSION : undefined)
}

export function explainCode(code: string): string | null {
  return meaningOf(code)?.text ?? explainStatus(code)
}
