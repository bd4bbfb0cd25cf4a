import { type Static, Type } from 'typebox'
import { withPattern } from '../../contract/pattern.ts'
import { SENDER_FAULT, SENDER_PATTERN } from '../shared/sms.ts'

const ASCII = withPattern('^[\\x20-\\x7e]*$', 'must be letters, digits and signs of ASCII')

const DEFAULTS = {
  systemType: '',
  bindMode: 'trx',
  binds: 1,
  window: 100,
  serviceType: '',
  sourceAddress: '',
  destTon: 1,
  destNpi: 1,
  defaultAlphabet: 'gsm7',
  receiptIdFormat: 'auto',
  responseTimeoutMs: 10_000,
  enquireLinkMs: 30_000,
  throttleMs: 1000,
} as const

/** The configuration of an SMPP connection: the console's form, and checked before `open`. */
export const smppConfig = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Name or address of the SMSC.',
    }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 2775 }),
    systemId: Type.String({
      maxLength: 15,
      ...ASCII,
      description: 'The system_id of the bind: the account at the SMSC.',
    }),
    password: Type.String({
      maxLength: 64,
      ...ASCII,
      description: 'SMPP 3.4 allows 8 characters; many SMSCs take more.',
    }),
    systemType: Type.Optional(
      Type.String({
        maxLength: 12,
        ...ASCII,
        default: DEFAULTS.systemType,
        description: 'The system_type of the bind, where the SMSC requires one.',
      }),
    ),
    tls: Type.Optional(Type.Boolean({ default: false, description: 'TLS with a verified certificate.' })),
    tlsCa: Type.Optional(
      Type.String({
        maxLength: 65_536,
        description: 'PEM of the authority to trust instead of the public ones.',
      }),
    ),
    tlsServerName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'Name in the certificate, if it is not the host.',
      }),
    ),
    bindMode: Type.Optional(
      Type.Union([Type.Literal('trx'), Type.Literal('tx_rx')], {
        default: DEFAULTS.bindMode,
        description: 'trx: each bind is a transceiver. tx_rx: each bind is a transmitter and a receiver.',
      }),
    ),
    binds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 16, default: DEFAULTS.binds, description: 'Number of binds.' }),
    ),
    window: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: DEFAULTS.window,
        description: 'Submits per bind that may wait for their response.',
      }),
    ),
    messagesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Absent: no limit.' }),
    ),
    serviceType: Type.Optional(
      Type.String({
        maxLength: 5,
        ...ASCII,
        default: DEFAULTS.serviceType,
        description: 'The service_type of submits, where the SMSC has several services.',
      }),
    ),
    sourceAddress: Type.Optional(
      Type.String({
        maxLength: 20,
        ...withPattern(`^(?:${SENDER_PATTERN})?$`, SENDER_FAULT),
        default: DEFAULTS.sourceAddress,
        description: 'The sender of messages that name none; empty leaves it to the SMSC.',
      }),
    ),
    sourceTon: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 6,
        description: 'Type of number (TON) of the sender. Absent: derived from the sender.',
      }),
    ),
    sourceNpi: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 18,
        description: 'Numbering plan (NPI) of the sender. Absent: derived from the sender.',
      }),
    ),
    destTon: Type.Optional(Type.Integer({ minimum: 0, maximum: 6, default: DEFAULTS.destTon })),
    destNpi: Type.Optional(Type.Integer({ minimum: 0, maximum: 18, default: DEFAULTS.destNpi })),
    defaultAlphabet: Type.Optional(
      Type.Union([Type.Literal('gsm7'), Type.Literal('latin1'), Type.Literal('ascii')], {
        default: DEFAULTS.defaultAlphabet,
        description: 'The SMSC’s default alphabet (data_coding 0), for messages in both directions.',
      }),
    ),
    receiptIdFormat: Type.Optional(
      Type.Union(
        [Type.Literal('auto'), Type.Literal('same'), Type.Literal('hex-to-dec'), Type.Literal('dec-to-hex')],
        {
          default: DEFAULTS.receiptIdFormat,
          description: 'How the id of a receipt is converted to the id of the submit’s response.',
        },
      ),
    ),
    responseTimeoutMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 60_000,
        default: DEFAULTS.responseTimeoutMs,
        description: 'How long to wait for the response to a PDU, in ms.',
      }),
    ),
    enquireLinkMs: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 600_000,
        default: DEFAULTS.enquireLinkMs,
        description: 'Interval between enquire_link PDUs, in ms.',
      }),
    ),
    throttleMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 60_000,
        default: DEFAULTS.throttleMs,
        description: 'Pause after ESME_RTHROTTLED or ESME_RMSGQFUL, in ms.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type SmppConfig = Static<typeof smppConfig>

/** The configuration with every default in place. */
export type SmppSettings = SmppConfig & Required<Pick<SmppConfig, keyof typeof DEFAULTS>>

/** Fills in what the operator left out, whether or not the caller applied the schema's defaults. */
export function withDefaults(config: SmppConfig): SmppSettings {
  return { ...DEFAULTS, ...config }
}
