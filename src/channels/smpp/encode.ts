import { countSms, type DefaultAlphabet, encodeSms, MAX_SMS_PARTS } from '../../lib/sms-parts.ts'
import type { Outcome, Outgoing } from '../provider.ts'
import { rejected } from '../shared/outcome.ts'
import { rejectUnsendable, withoutPlus } from '../shared/sms.ts'
import type { SmppSettings } from './config.ts'
import { ESM_UDHI, type ShortMessage } from './pdu.ts'

/** Type of number and numbering plan (5.2.5, 5.2.6). */
type Numbering = { ton: number; npi: number }

const INTERNATIONAL: Numbering = { ton: 1, npi: 1 }
const NETWORK_SPECIFIC: Numbering = { ton: 3, npi: 0 }
const ALPHANUMERIC: Numbering = { ton: 5, npi: 0 }
const UNSPECIFIED: Numbering = { ton: 0, npi: 0 }

const RECIPIENT = /^\+?[0-9]{3,20}$/
const DIGITS = /^\+?[0-9]{1,20}$/
const ALPHANUMERIC_SENDER = /^[\x20-\x7e]{1,11}$/
/** A numeric sender without a plus is a short code up to this many digits, and an international number above. */
const MAX_SHORT_CODE_LENGTH = 6

const REQUEST_RECEIPT = 1

/** The submit_sm of every part, in order; or a rejection, where the message cannot be sent as an SMS. */
export function toShortMessages(
  message: Outgoing,
  settings: SmppSettings,
  reference: number,
): ShortMessage[] | Outcome {
  const unsendable = rejectUnsendable(message)
  if (unsendable) return unsendable
  const source = message.from ?? settings.sourceAddress
  const from = numberingOf(source)
  if (!from)
    return rejected(
      'SENDER_REJECTED',
      'the sender is neither a number nor at most 11 printable ASCII characters',
    )
  if (!RECIPIENT.test(message.to))
    return rejected('RECIPIENT_REJECTED', 'the recipient is not a number of 3 to 20 digits')
  const { defaultAlphabet } = settings
  if (exceedsMaxParts(message.text, defaultAlphabet))
    return rejected('MESSAGE_REJECTED', `the text needs more than ${MAX_SMS_PARTS} parts`)
  const { dataCoding, parts } = encodeSms(message.text, reference, defaultAlphabet)
  return parts.map(({ udh, body }) => ({
    serviceType: settings.serviceType,
    sourceTon: settings.sourceTon ?? from.ton,
    sourceNpi: settings.sourceNpi ?? from.npi,
    source: withoutPlus(source),
    destTon: settings.destTon,
    destNpi: settings.destNpi,
    dest: withoutPlus(message.to),
    esmClass: udh ? ESM_UDHI : 0,
    registeredDelivery: REQUEST_RECEIPT,
    dataCoding,
    udh,
    body,
  }))
}

function numberingOf(source: string): Numbering | null {
  if (source === '') return UNSPECIFIED
  if (DIGITS.test(source)) {
    const short = !source.startsWith('+') && source.length <= MAX_SHORT_CODE_LENGTH
    return short ? NETWORK_SPECIFIC : INTERNATIONAL
  }
  return ALPHANUMERIC_SENDER.test(source) ? ALPHANUMERIC : null
}

/** Counting parts is slow: texts that are too short to exceed the limit are not counted. */
function exceedsMaxParts(text: string, alphabet: DefaultAlphabet): boolean {
  return text.length > MAX_SMS_PARTS * 60 && countSms(text, alphabet).parts > MAX_SMS_PARTS
}
