import { type Static, Type } from 'typebox'

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
      pattern: '^[\\x20-\\x7e]*$',
      description: 'The account at the centre.',
    }),
    password: Type.String({
      maxLength: 64,
      pattern: '^[\\x20-\\x7e]*$',
      description: 'SMPP 3.4 allows 8 characters; many centres take more.',
    }),
    systemType: Type.Optional(Type.String({ maxLength: 12, pattern: '^[\\x20-\\x7e]*$', default: '' })),
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
        default: 'trx',
        description: 'trx: transceivers. tx_rx: a transmitter and a receiver each.',
      }),
    ),
    binds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 16, default: 1, description: 'Connections at once.' }),
    ),
    window: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Unanswered messages per bind.' }),
    ),
    messagesPerSecond: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Absent: no limit.' }),
    ),
    serviceType: Type.Optional(Type.String({ maxLength: 5, pattern: '^[\\x20-\\x7e]*$', default: '' })),
    sourceAddress: Type.Optional(
      Type.String({
        maxLength: 20,
        pattern: '^\\+?[A-Za-z0-9 ._-]*$',
        default: '',
        description: 'The sender of messages that name none; empty leaves it to the centre.',
      }),
    ),
    sourceTon: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 6, description: 'Absent: by the kind of sender.' }),
    ),
    sourceNpi: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 18, description: 'Absent: by the kind of sender.' }),
    ),
    destTon: Type.Optional(Type.Integer({ minimum: 0, maximum: 6, default: 1 })),
    destNpi: Type.Optional(Type.Integer({ minimum: 0, maximum: 18, default: 1 })),
    defaultAlphabet: Type.Optional(
      Type.Union([Type.Literal('gsm7'), Type.Literal('latin1')], {
        default: 'gsm7',
        description: 'How messages from phones are to be read that come in the centre’s default alphabet.',
      }),
    ),
    receiptIdFormat: Type.Optional(
      Type.Union(
        [Type.Literal('auto'), Type.Literal('same'), Type.Literal('hex-to-dec'), Type.Literal('dec-to-hex')],
        {
          default: 'auto',
          description:
            'How ids in the text of receipts become those of the submits: as they are, or from one base to the other.',
        },
      ),
    ),
    responseTimeoutMs: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 60_000,
        default: 10_000,
        description: 'Wait for an answer to a PDU.',
      }),
    ),
    enquireLinkMs: Type.Optional(
      Type.Integer({
        minimum: 1000,
        maximum: 600_000,
        default: 30_000,
        description: 'Between signs of life.',
      }),
    ),
    throttleMs: Type.Optional(
      Type.Integer({ minimum: 100, maximum: 60_000, default: 1000, description: 'Rest after a throttle.' }),
    ),
  },
  { additionalProperties: false },
)

export type SmppConfig = Static<typeof smppConfig>

type Defaulted =
  | 'systemType'
  | 'bindMode'
  | 'binds'
  | 'window'
  | 'serviceType'
  | 'sourceAddress'
  | 'destTon'
  | 'destNpi'
  | 'defaultAlphabet'
  | 'receiptIdFormat'
  | 'responseTimeoutMs'
  | 'enquireLinkMs'
  | 'throttleMs'

/** The configuration with every default in place. */
export type SmppSettings = SmppConfig & Required<Pick<SmppConfig, Defaulted>>

/** Fills in what the operator left out, whether or not the caller applied the schema's defaults. */
export function withDefaults(config: SmppConfig): SmppSettings {
  return {
    ...config,
    systemType: config.systemType ?? '',
    bindMode: config.bindMode ?? 'trx',
    binds: config.binds ?? 1,
    window: config.window ?? 100,
    serviceType: config.serviceType ?? '',
    sourceAddress: config.sourceAddress ?? '',
    destTon: config.destTon ?? 1,
    destNpi: config.destNpi ?? 1,
    defaultAlphabet: config.defaultAlphabet ?? 'gsm7',
    receiptIdFormat: config.receiptIdFormat ?? 'auto',
    responseTimeoutMs: config.responseTimeoutMs ?? 10_000,
    enquireLinkMs: config.enquireLinkMs ?? 30_000,
    throttleMs: config.throttleMs ?? 1000,
  }
}
