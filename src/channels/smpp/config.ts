import { type Static, Type } from 'typebox'
import { inForm } from '../../contract/form.ts'
import { SENDER_FAULT, SENDER_PATTERN } from '../shared/sms.ts'

const ASCII = inForm('^[\\x20-\\x7e]*$', 'must be letters, digits and signs of ASCII')

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

/** What an SMPP connection is made of; drawn as the form and checked before `open`. */
export const smppConfig = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Name or address of the message centre.',
    }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 2775 }),
    systemId: Type.String({
      maxLength: 15,
      ...ASCII,
      description: 'The account at the centre.',
    }),
    password: Type.String({
      maxLength: 64,
      ...ASCII,
      description: 'SMPP 3.4 allows 8 characters; many centres take more.',
    }),
    systemType: Type.Optional(
      Type.String({
        maxLength: 12,
        ...ASCII,
        default: DEFAULTS.systemType,
        description: 'What kind of system we are, where the centre asks for it.',
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
        description: 'Name in the certificate, where it is not the host.',
      }),
    ),
    bindMode: Type.Optional(
      Type.Union([Type.Literal('trx'), Type.Literal('tx_rx')], {
        default: DEFAULTS.bindMode,
        description: 'trx: transceivers. tx_rx: a transmitter and a receiver each.',
      }),
    ),
    binds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 16, default: DEFAULTS.binds, description: 'Connections at once.' }),
    ),
    window: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: DEFAULTS.window,
        description: 'Unanswered messages per bind.',
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
        description: 'The service at the centre, where it has several.',
      }),
    ),
    sourceAddress: Type.Optional(
      Type.String({
        maxLength: 20,
        ...inForm(`^(?:${SENDER_PATTERN})?$`, SENDER_FAULT),
        default: DEFAULTS.sourceAddress,
        description: 'The sender of messages that name none; empty leaves it to the centre.',
      }),
    ),
    sourceTon: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 6, description: 'Absent: by the kind of sender.' }),
    ),
    sourceNpi: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 18, description: 'Absent: by the kind of sender.' }),
    ),
    destTon: Type.Optional(Type.Integer({ minimum: 0, maximum: 6, default: DEFAULTS.destTon })),
    destNpi: Type.Optional(Type.Integer({ minimum: 0, maximum: 18, default: DEFAULTS.destNpi })),
    defaultAlphabet: Type.Optional(
      Type.Union([Type.Literal('gsm7'), Type.Literal('latin1')], {
        default: DEFAULTS.defaultAlphabet,
        description: 'How messages from phones are to be read that come in the centre’s default alphabet.',
      }),
    ),
    receiptIdFormat: Type.Optional(
      Type.Union(
        [Type.Literal('auto'), Type.Literal('same'), Type.Literal('hex-to-dec'), Type.Literal('dec-to-hex')],
        {
          default: DEFAULTS.receiptIdFormat,
          description:
            'How ids in the text of receipts become those of the submits: as they are, or from one base to the other.',
        },
      ),
    ),
    responseTimeoutMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 60_000,
        default: DEFAULTS.responseTimeoutMs,
        description: 'Wait for an answer to a PDU.',
      }),
    ),
    enquireLinkMs: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 600_000,
        default: DEFAULTS.enquireLinkMs,
        description: 'Between signs of life.',
      }),
    ),
    throttleMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 60_000,
        default: DEFAULTS.throttleMs,
        description: 'Rest after a throttle.',
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
