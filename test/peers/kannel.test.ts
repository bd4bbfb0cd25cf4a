import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MessageWithTimeline } from '../../src/contract/message.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { messageIdOf, startTestApp, type TestAccount, type TestApp } from '../support/app.ts'
import { hasKannelGateway, type KannelGateway, startKannelGateway } from '../support/kannel-gateway.ts'
import { KANNEL_CONNECTION, KANNEL_GROUPS } from '../support/kannel-guide.ts'
import { freePort } from '../support/loopback.ts'
import { hasNetSmpp, type PerlCentre, startPerlCentre } from '../support/message-centres.ts'

/** Sends SMS through Kannel as an HTTP gateway, both set up as the guide says. */

const PASSWORD = 'pa55word'
/** A number of the phones, and the beginning of the numbers of an SMSC with receipts of its own. */
const PHONE = '+491701234567'
const PHONES = '+4917'
const CENTRE = '+491511234'

type Incoming = { from: string; to: string; text: string; keyword: string | null; sentAt: string | null }

describe.skipIf(!hasKannelGateway)('Kannel', () => {
  let app: TestApp
  let account: TestAccount
  let connectionId: string
  let kannel: KannelGateway
  let centre: PerlCentre | null = null

  beforeAll(async () => {
    const [port, sendsmsPort] = [await freePort(), await freePort()]
    const publicUrl = `http://127.0.0.1:${port}`
    app = await startTestApp({
      clock: systemClock,
      // A slow machine must not turn "sent" into "queued".
      env: { PORT: String(port), POSTHORN_PUBLIC_URL: publicUrl, POSTHORN_SYNC_WAIT_MS: '20000' },
    })
    account = await app.createAccount({ homeCountry: 'DE', balance: 1_000 })
    connectionId = await connect(sendsmsPort)
    const { body } = await app.admin('GET', `/connections/${connectionId}/webhook`)
    const { url } = body['data'] as { url: string }
    if (hasNetSmpp) centre = await startPerlCentre()
    const groups = KANNEL_GROUPS.replace('13013', String(sendsmsPort))
      .replace('password = …', `password = ${PASSWORD}`)
      .replace('https://posthorn.example.com/webhooks/http-sms/cnn_…?t=…', url)
    kannel = await startKannelGateway({ prefix: PHONES, groups: groups + groupOf(centre) })
  })
  afterAll(async () => {
    await kannel?.stop()
    await centre?.stop()
    await app?.stop()
  })

  /** Creates the guide's connection, for the account. */
  async function connect(sendsmsPort: number): Promise<string> {
    const { request } = KANNEL_CONNECTION
    const config = {
      ...KANNEL_CONNECTION,
      request: { ...request, url: request.url.replace('13013', String(sendsmsPort)) },
      secrets: { password: PASSWORD },
    }
    const created = await app.admin('POST', '/connections', {
      provider: 'http-sms',
      name: 'Kannel',
      channels: ['local_sms', 'int_sms'],
      accountId: account.id,
      config,
    })
    expect(created.status, created.text).toBe(201)
    await app.until(
      () => account.read<{ providerKey: string }[]>('/api/v2/messages/policies'),
      policies => policies.some(policy => policy.providerKey === 'http-sms'),
    )
    return (created.body['data'] as { connection: { id: string } }).connection.id
  }

  function groupOf(smsc: PerlCentre | null): string {
    if (smsc === null) return ''
    return `
group = smsc
smsc = smpp
smsc-id = centre
host = 127.0.0.1
port = ${smsc.port}
smsc-username = posthorn
smsc-password = pa55word
system-type = VMA
transceiver-mode = true
allowed-prefix = "${CENTRE}"
`
  }

  function reaches(id: string, status: MessageWithTimeline['status']) {
    return app.until(
      () => account.message(id),
      message => message.status === status,
    )
  }

  function incoming(count: number): Promise<Incoming[]> {
    return app.until(
      () => account.read<Incoming[]>('/api/v2/inbound'),
      messages => messages.length >= count,
    )
  }

  test.each([
    ['GSM-7', 'Grüße {€} @$_ ^~|\\[] +1&2', 'text Grüße {€} @$_ ^~|\\[] +1&2'],
    ['UCS-2', 'Да 😀', 'ucs-2 %04%14%040%00+%D8%3D%DE%00'],
  ])('a text in %s arrives as it was written, and is delivered by its receipt', async (_, text, content) => {
    const before = kannel.received.length
    const answer = await account.send({ to: PHONE, text }, { live: true })
    expect(answer.body, answer.text).toMatchObject({ status: 'sent', resolved: { provider: 'http-sms' } })
    await kannel.until(before + 1)
    expect(kannel.received.slice(before)).toEqual([`Posthorn ${PHONE} ${content}`])
    const message = await reaches(messageIdOf(answer), 'delivered')
    expect(message).toMatchObject({ attempts: 1, providerMessageId: `${messageIdOf(answer)}.1` })
  })

  test.each([
    ['GSM-7', `${'long '.repeat(80)}{€}`],
    ['UCS-2', 'длинное сообщение '.repeat(10)],
  ])('a long text in %s arrives whole, in the parts that are charged', async (_, text) => {
    const before = kannel.received.length
    const answer = await account.send({ to: PHONE, text }, { live: true })
    expect(answer.body, answer.text).toMatchObject({ status: 'sent', billing: { parts: 3 } })
    await kannel.until(before + 3)
    const parts = kannel.received
      .slice(before)
      .map(line => / udh %05%00%03%\w\w%03%0(\d) data (\S+)$/.exec(line) ?? [])
    expect(parts.map(([, number]) => number)).toEqual(['1', '2', '3'])
    const octets = parts.map(([, , data = '']) => octetsOf(data))
    const encoding = text.startsWith('long') ? 'utf8' : 'utf16le'
    const whole = Buffer.concat(octets)
    expect((encoding === 'utf8' ? whole : whole.swap16()).toString(encoding)).toBe(text)
    await reaches(messageIdOf(answer), 'delivered')
  })

  test('a number without an SMSC is refused, costs nothing, and says nothing against the connection', async () => {
    const { captured } = await account.wallet()
    const answer = await account.send({ to: '+15005550006', text: 'Hello' }, { live: true })
    expect([answer.status, answer.body['code']]).toEqual([400, 'RECIPIENT_REJECTED'])
    // Kannel calls dlr-url for it, too.
    await kannel.logged('&type=16')
    const [failed] = await account.messages('?status=failed')
    expect(failed).toMatchObject({ to: '+15005550006', attempts: 1, errorCode: 'RECIPIENT_REJECTED' })
    expect(await account.wallet()).toMatchObject({ held: 0, captured })
    const { body } = await app.admin('GET', '/connections')
    const connections = body['data'] as { id: string; state: { link: string } }[]
    expect(connections.find(({ id }) => id === connectionId)?.state).toMatchObject({ link: 'up' })
  })

  test('what a person writes is stored once, counts as STOP, and is not answered', async () => {
    const before = kannel.received.length
    const known = (await incoming(0)).length
    kannel.write(`${PHONE} 70123 text Is 1+1 = 2 & 50 % of 4?`)
    kannel.write(`${PHONE} 70123 text Stop`)
    const messages = await incoming(known + 2)
    expect(messages).toHaveLength(known + 2)
    expect(messages).toContainEqual(
      expect.objectContaining({ from: PHONE, to: '70123', text: 'Is 1+1 = 2 & 50 % of 4?', keyword: null }),
    )
    const stop = messages.find(({ text }) => text === 'Stop')
    expect(stop).toMatchObject({ from: PHONE, keyword: 'stop' })
    expect(Math.abs(Date.parse(stop!.sentAt!) - app.now())).toBeLessThan(60_000)
    await kannel.logged('No reply sent, denied.')
    const answer = await account.send({ to: PHONE, text: 'After it' }, { live: true })
    await reaches(messageIdOf(answer), 'delivered')
    expect(kannel.received.slice(before)).toEqual([`Posthorn ${PHONE} text After it`])
  })

  test.skipIf(!hasNetSmpp)(
    'a text in UCS-2, and one in parts, that a person writes can be read',
    async () => {
      const known = (await incoming(0)).length
      await account.send({ to: `${CENTRE}06`, text: 'Write to me' }, { live: true })
      const texts = (await incoming(known + 3)).map(({ text }) => text)
      expect(texts).toEqual(expect.arrayContaining(['a@b €', 'Стоп', 'hello, world']))
    },
  )

  test.skipIf(!hasNetSmpp)('a message that the SMSC behind Kannel refuses is undelivered', async () => {
    const answer = await account.send({ to: `${CENTRE}04`, text: 'Hello' }, { live: true })
    expect(answer.body['status'], answer.text).toBe('sent')
    const message = await reaches(messageIdOf(answer), 'undelivered')
    expect(message.billing.state).toBe('captured')
  })
})

function octetsOf(formEncoded: string): Buffer {
  const bytes = formEncoded.replaceAll('+', ' ').replace(/%(\w\w)/g, (_, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16))
  })
  return Buffer.from(bytes, 'latin1')
}
