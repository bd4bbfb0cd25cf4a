import { type Static, Type } from 'typebox'
import { withPattern } from '../../contract/pattern.ts'
import { HTTP_FIELDS, Sender } from '../http/config.ts'
import { configError } from './check.ts'

const Text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description !== undefined && { description }) })

const Fields = (description: string) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Type.String({ maxLength: 4_000 }), {
    description,
  })

/** Placeholders are allowed only behind the host, so that no message can change where requests go. */
const GATEWAY_URL = {
  maxLength: 2_000,
  ...withPattern(
    '^https?://[^\\s/?#@{}]+(?:/[^\\s#]*)?$',
    'must be an http or https URL whose host has no placeholder, such as https://example.com/send',
  ),
}

const Request = Type.Object(
  {
    method: Type.Optional(
      Type.Union([Type.Literal('POST'), Type.Literal('GET'), Type.Literal('PUT')], { default: 'POST' }),
    ),
    url: Type.String({
      ...GATEWAY_URL,
      description: 'Placeholders are allowed in the path and the query.',
    }),
    query: Type.Optional(Fields('Query parameters.')),
    headers: Type.Optional(Fields('Headers of the request.')),
    form: Type.Optional(Fields('The body as a form.')),
    json: Type.Optional(Type.Unknown({ description: 'The body as JSON; every text in it is a template.' })),
    xml: Type.Optional(Text(20_000, 'The body as XML.')),
  },
  { additionalProperties: false, description: 'The HTTP request that submits one message.' },
)

const Read = Type.String({
  minLength: 1,
  maxLength: 300,
  description:
    'In JSON a path such as messages.0.id; in text a regular expression whose first group is the value.',
})

const Meaning = Type.Enum(['recipient', 'opted_out', 'sender', 'message', 'operator', 'later', 'throttled'])

const AnswerForm = Type.Object(
  {
    format: Type.Union([Type.Literal('json'), Type.Literal('text')]),
    // Without it, the gateway's id is our attempt id; then check.ts wants status and takenStatuses.
    id: Type.Optional(Read),
    status: Type.Optional(Read),
    takenStatuses: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: 50,
        description: 'Values of status that mean "accepted"; any other means "refused".',
      }),
    ),
    error: Type.Optional(Read),
    errorText: Type.Optional(Read),
    errors: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 100 }),
        Type.Object({ means: Meaning, text: Type.Optional(Text(300)) }, { additionalProperties: false }),
        {
          description:
            'By the value of error, else of status: what the code means, and a sentence for people.',
        },
      ),
    ),
    notTakenHttpStatuses: Type.Optional(
      Type.Array(Type.Integer({ minimum: 500, maximum: 599 }), {
        maxItems: 20,
        description: 'The 5xx statuses that the gateway documents as "not accepted".',
      }),
    ),
  },
  { additionalProperties: false, description: 'How the gateway’s answer is read.' },
)

const Proof = Type.Union([
  Type.Object({ by: Type.Literal('token') }, { additionalProperties: false }),
  Type.Object(
    { by: Type.Literal('basic'), user: Text(200), secret: Text(100) },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      by: Type.Literal('hmac'),
      header: Text(100, 'The header that holds the signature of the body.'),
      algorithm: Type.Union([Type.Literal('sha1'), Type.Literal('sha256'), Type.Literal('sha512')]),
      encoding: Type.Union([Type.Literal('hex'), Type.Literal('base64')]),
      prefix: Type.Optional(Text(50, 'What stands before the signature, such as sha256=.')),
      secret: Text(100, 'The name of a secret.'),
    },
    { additionalProperties: false },
  ),
])

/** How the gateway calls our webhook, and how it is answered. */
const CALL = {
  format: Type.Union([Type.Literal('query'), Type.Literal('form'), Type.Literal('json')]),
  at: Type.Optional(Text(300)),
  atFormat: Type.Optional(
    Type.Union([Type.Literal('iso'), Type.Literal('seconds'), Type.Literal('milliseconds')], {
      default: 'iso',
    }),
  ),
  proof: Proof,
  reply: Type.Optional(
    Type.Object(
      {
        status: Type.Integer({ minimum: 200, maximum: 299 }),
        contentType: Type.String({
          maxLength: 100,
          ...withPattern('^[\\x20-\\x7e]+$', 'must be a media type, such as text/plain'),
        }),
        body: Type.String({ maxLength: 1_000 }),
      },
      { additionalProperties: false, description: 'The response that the gateway expects.' },
    ),
  ),
}

const Receipts = Type.Object(
  {
    ...CALL,
    items: Type.Optional(
      Text(
        300,
        'In JSON the path to a list of receipts; the other paths start in each. Absent: the body is one or a list.',
      ),
    ),
    id: Text(300),
    attempt: Type.Optional(Text(300, 'Where the gateway returns {{attemptId}}, if the request contains it.')),
    status: Text(300),
    statuses: Type.Record(
      Type.String({ maxLength: 100 }),
      Type.Enum(['sent', 'delivered', 'read', 'undelivered', 'ignored']),
    ),
    code: Type.Optional(Text(300)),
  },
  { additionalProperties: false, description: 'How the gateway’s delivery receipts are read.' },
)

const Messages = Type.Object(
  {
    ...CALL,
    items: Type.Optional(
      Text(
        300,
        'In JSON the path to a list of messages; the other paths start in each. Absent: the body is one or a list.',
      ),
    ),
    id: Type.Optional(
      Text(
        300,
        'The gateway’s id of the message, by which repeated calls are recognised. Without it every call is a new message.',
      ),
    ),
    from: Text(300),
    to: Text(300),
    text: Text(300),
  },
  {
    additionalProperties: false,
    description: 'How inbound messages are read, which the gateway sends to the webhook URL with in=1.',
  },
)

const Probe = Type.Object(
  {
    url: Type.String(GATEWAY_URL),
    headers: Type.Optional(Fields('Headers of the request.')),
  },
  {
    additionalProperties: false,
    description:
      'A GET on the same host that changes nothing and answers 200 if the credentials are right: the operator’s test.',
  },
)

const Shape = Type.Object(
  {
    request: Request,
    answer: AnswerForm,
    receipts: Type.Optional(Receipts),
    inbound: Type.Optional(Messages),
    probe: Type.Optional(Probe),
    secrets: Type.Optional(
      Type.Record(
        Type.String(
          withPattern(
            '^[A-Za-z][A-Za-z0-9_]{0,63}$',
            'must be letters, digits and _, a letter first, at most 64',
          ),
        ),
        Type.String({ minLength: 1, maxLength: 4_000 }),
        { description: 'Secret values by name, for {{secret.name}} in templates.' },
      ),
    ),
    from: Type.Optional(Sender),
    tlsCa: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 65_536,
        description: 'PEM of the authority to trust instead of the public ones.',
      }),
    ),
    ...HTTP_FIELDS,
  },
  { additionalProperties: false },
)

export type HttpSmsConfig = Static<typeof Shape>

/** A gateway, described by its request, its answer, its receipts and its inbound messages. */
export const httpSmsConfig = Type.Refine(
  Shape,
  config => configError(config) === null,
  config => configError(config) ?? '',
)
export type AnswerForm = Static<typeof AnswerForm>
export type ReceiptForm = Static<typeof Receipts>
export type MessageForm = Static<typeof Messages>
