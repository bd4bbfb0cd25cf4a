type Example = { summary: string; value: unknown }

/** Example bodies of operations. A test sends each of them. */
export const BODY_EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  'POST /api/v2/messages/send': {
    text: { summary: 'A text', value: { to: '+12025550123', text: 'Your parcel is here' } },
    code: {
      summary: 'A one-time code',
      value: { to: '+12025550123', messageType: 'otp', content: { otpCode: '483920' } },
    },
    email: {
      summary: 'An e-mail',
      value: { to: 'ada@example.com', content: { subject: 'Your parcel', text: 'It leaves today.' } },
    },
    batch: {
      summary: 'Several recipients',
      value: { to: ['+12025550123', '+12025550124'], text: 'Doors open at 7' },
    },
  },
  'POST /api/v2/messages/estimate': {
    text: { summary: 'A text', value: { to: '+12025550123', text: 'Your parcel is here' } },
  },
  'POST /api/v2/messages/bulk': {
    messages: {
      summary: 'Two messages',
      value: {
        name: 'October',
        messagesPerSecond: 5,
        messages: [
          { to: '+12025550123', content: { text: 'Ann, your parcel leaves today.' } },
          { to: 'ben@example.com', content: { subject: 'Your parcel', text: 'Ben, it leaves today.' } },
        ],
      },
    },
  },
  'POST /api/v2/verification/send': {
    phone: { summary: 'To a phone', value: { to: '+12025550123' } },
  },
  'POST /api/v2/verification/resend': {
    phone: { summary: 'By the recipient', value: { to: '+12025550123' } },
  },
  'POST /api/v2/verification/verify': {
    phone: { summary: 'By the recipient', value: { to: '+12025550123', code: '314159' } },
  },
  'POST /api/v2/templates': {
    sms: {
      summary: 'For SMS',
      value: {
        name: 'order_update',
        category: 'sms',
        subType: 'utility',
        content: 'Order {{1}} is {{2}}.',
      },
    },
    chatapp: {
      summary: 'For the official chat app',
      value: {
        name: 'order_shipped',
        category: 'chatapp',
        subType: 'utility',
        language: 'en',
        body: 'Hello {{1}}, your order has shipped.',
        bodyParameters: [{ index: 1, label: 'Ada' }],
      },
    },
  },
  'POST /api/v2/webhooks': {
    events: {
      summary: 'Two types of events',
      value: { url: 'https://example.com/posthorn', events: ['message.delivered', 'message.failed'] },
    },
  },
  'POST /api/v2/sms-senders': { name: { summary: 'Without a callback', value: { name: 'Acme' } } },
  'POST /api/v2/suppressions': {
    phone: {
      summary: 'One channel',
      value: { to: '+12025550199', channel: 'local_sms', reason: 'asked by phone' },
    },
  },
  'POST /api/v2/api-keys': {
    test: { summary: 'A test key', value: { name: 'Shop', mode: 'test', permissions: ['messages:create'] } },
  },
}

/** Example idempotency keys of an operation: another one for each of its bodies, which a single key would refuse. */
export function keyExamples(operation: string): { example: string } | { examples: Record<string, Example> } {
  const bodies = Object.entries(BODY_EXAMPLES[operation] ?? {})
  if (bodies.length < 2) return { example: 'order-17' }
  const keys = bodies.map(
    ([name, { summary }], at) => [name, { summary, value: `order-${17 + at}` }] as const,
  )
  return { examples: Object.fromEntries(keys) }
}
