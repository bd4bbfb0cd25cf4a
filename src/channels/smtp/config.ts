import { type Static, Type } from 'typebox'
import { withPattern } from '../../contract/pattern.ts'
import { parseMailbox } from './address.ts'

export const CONNECTIONS = 5

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 255, description })

const DNS_NAME = withPattern('^[A-Za-z0-9._-]+$', 'must be letters a to z, digits, dots, _ and -')

const SENDER_FORM = 'must be one e-mail address, or `Name <address>`'

export const Config = Type.Object(
  {
    host: Text('The mail server, by name or address.'),
    port: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 65_535, description: '465 with TLS from the start, else 587.' }),
    ),
    secure: Type.Optional(
      Type.Boolean({
        description: 'TLS from the start; unset means: on port 465, or where no port is given.',
      }),
    ),
    user: Type.Optional(Text('Login name.')),
    password: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4_096, description: 'Login password.', format: 'password' }),
    ),
    from: Type.Refine(
      Type.String({
        minLength: 3,
        maxLength: 400,
        ...withPattern('^[^\\r\\n]+@[^\\r\\n]+$', SENDER_FORM),
        description: 'The sender of every mail: one address, or `Name <address>`.',
      }),
      from => parseMailbox(from) !== null,
      () => SENDER_FORM,
    ),
    dkim: Type.Optional(
      Type.Object(
        {
          domainName: Type.String({ maxLength: 255, ...DNS_NAME, description: 'Such as example.com.' }),
          keySelector: Type.String({
            maxLength: 255,
            ...DNS_NAME,
            description: 'The name of the key, which is published in DNS at <selector>._domainkey.<domain>.',
          }),
          privateKey: Type.String({ minLength: 1, maxLength: 16_384, description: 'An RSA key in PEM.' }),
        },
        { additionalProperties: false, description: 'Signs every mail for this domain.' },
      ),
    ),
    ehloName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        ...DNS_NAME,
        description: 'Our name in EHLO; unset means: this host’s, or [127.0.0.1] where that has no domain.',
      }),
    ),
    requireTls: Type.Optional(
      Type.Boolean({
        description: 'Refuse a server that offers no STARTTLS. Otherwise TLS is used if it is offered.',
      }),
    ),
    tlsCa: Type.Optional(
      Type.String({ minLength: 1, maxLength: 65_536, description: 'PEM of the authority to trust instead.' }),
    ),
    maxConnections: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: CONNECTIONS })),
    messagesPerSecond: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  },
  { additionalProperties: false },
)

export type SmtpConfig = Static<typeof Config>
