import { afterEach, describe, expect, it } from 'vitest'
import type { SmppConfig } from '../../src/channels/smpp/config.ts'
import { receiptsOf } from '../support/inbound.ts'
import { hasKannel, hasNetSmpp, startDriveSmpp, startPerlCentre } from '../support/message-centres.ts'
import { never, openTestLink, sms, type TestLink } from '../support/smpp-link.ts'

const stops: (() => Promise<void>)[] = []
const links: TestLink[] = []

async function linkTo(...args: Parameters<typeof openTestLink>): Promise<TestLink> {
  const test = await openTestLink(...args)
  links.push(test)
  return test
}

afterEach(async () => {
  for (const { link } of links.splice(0)) await link.close()
  for (const stop of stops.splice(0)) await stop()
})

describe.skipIf(!hasKannel)('drive_smpp of Kannel', () => {
  const MESSAGES = 500

  it('exchanges equally many messages in both directions over a transmitter and a receiver', async () => {
    const kannel = await startDriveSmpp(MESSAGES)
    stops.push(kannel.stop)
    const test = await linkTo(kannel.port, {
      config: { systemId: 'foo', password: 'bar', systemType: 'VMA', bindMode: 'tx_rx', window: 50 },
    })
    await test.state('up')
    const outcomes: string[] = []
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < MESSAGES)
        outcomes.push((await test.link.send(sms({ text: `hello ${next++}` }), never())).kind)
    }
    await Promise.all(Array.from({ length: 50 }, lane))
    expect(outcomes).toEqual(Array(MESSAGES).fill('accepted'))
    // drive_smpp ends once it has sent and received all messages and the link is closed.
    await kannel.logged(`All messages sent to ESME.`)
    await test.link.close()
    const report = await kannel.report()
    expect(report).toContain(`Number of messages sent to ESME: ${MESSAGES}`)
    expect(report).toContain(`Number of messages sent to SMSC: ${MESSAGES}`)
  })
})

describe.skipIf(!hasNetSmpp)('an SMSC over Net::SMPP', () => {
  async function open(more: Partial<SmppConfig> = {}) {
    const perl = await startPerlCentre()
    stops.push(perl.stop)
    const test = await linkTo(perl.port, { config: { systemType: 'VMA', ...more } })
    await test.state('up')
    return { perl, test, link: test.link }
  }

  const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex')

  it('receives the fields of our bind and of our submit', async () => {
    const { perl, link } = await open()
    expect(await link.send(sms({ to: '+4917000000' }), never())).toMatchObject({
      kind: 'accepted',
      providerId: '00000A0F',
    })
    await perl.until('submit_sm', 1)
    expect(perl.got('bind')).toEqual([
      { got: 'bind', systemId: 'posthorn', password: 'secret', systemType: 'VMA', version: 0x34 },
    ])
    expect(perl.got('submit_sm')).toEqual([
      {
        got: 'submit_sm',
        to: '4917000000',
        from: 'Posthorn',
        ton: 5,
        npi: 0,
        esm: 0,
        coding: 0,
        registered: 1,
        text: hex('Hello there'),
      },
    ])
    await link.close()
    await perl.until('unbind', 1)
  })

  it.each(['auto', 'dec-to-hex'] as const)(
    'sends receipts in optional parameters and in the text with a decimal id, which are matched (%s)',
    async receiptIdFormat => {
      const { perl, test, link } = await open({ receiptIdFormat })
      for (const to of ['+4917000001', '+4917000002']) await link.send(sms({ to }), never())
      await perl.until('deliver_sm_resp', 2)
      expect(test.inbound).toMatchObject([
        { providerId: '00000A0F', status: 'delivered', providerCode: null },
        { providerId: '00000A10', status: 'delivered', providerCode: null },
      ])
      expect(perl.got('deliver_sm_resp').map(line => line['status'])).toEqual([0, 0])
    },
  )

  it('sends a receipt before the response to the submit, and the receipt is emitted', async () => {
    const { perl, test, link } = await open()
    expect(await link.send(sms({ to: '+4917000005' }), never())).toMatchObject({ providerId: '00000A0F' })
    await perl.until('deliver_sm_resp', 1)
    expect(test.inbound).toMatchObject([
      { providerId: '00000A0F', status: 'undelivered', providerCode: '045' },
    ])
  })

  it('receives texts in its default alphabet', async () => {
    const { perl, link } = await open({ defaultAlphabet: 'latin1' })
    await link.send(sms({ to: '+4917000000', text: 'Grüße @ 5$_£ {à}' }), never())
    await link.send(sms({ to: '+4917000000', text: '5 €' }), never())
    await perl.until('submit_sm', 2)
    expect(perl.got('submit_sm')).toMatchObject([
      { coding: 0, text: hex('Grüße @ 5$_£ {à}') },
      { coding: 8, text: '0035002020ac' },
    ])
  })

  it('sends inbound messages in GSM-7, in UCS-2 and in parts, which are emitted', async () => {
    const { perl, test, link } = await open()
    await link.send(sms({ to: '+4917000006' }), never())
    await perl.until('deliver_sm_resp', 4)
    const phone = { kind: 'message', from: '+4917000006', to: '70123', channel: 'int_sms' }
    expect(test.inbound).toMatchObject([
      { ...phone, text: 'a@b €' },
      { ...phone, text: 'Стоп' },
      { ...phone, text: 'world', part: { reference: 77, number: 2, total: 2 } },
      { ...phone, text: 'hello, ', part: { reference: 77, number: 1, total: 2 } },
    ])
    expect(perl.got('deliver_sm_resp').map(line => line['status'])).toEqual([0, 0, 0, 0])
  })

  it('throttles a submit and refuses another, which gives the outcomes throttled and rejected', async () => {
    const { link } = await open()
    expect(await link.send(sms({ to: '+4917000003' }), never())).toMatchObject({
      kind: 'throttled',
      afterMs: 1000,
    })
    expect(await link.send(sms({ to: '+4917000004' }), never())).toMatchObject({
      kind: 'rejected',
      code: 'RECIPIENT_REJECTED',
    })
  })

  it('joins the parts of long messages in GSM-7 and UCS-2, and sends a receipt for each part', async () => {
    const { perl, test, link } = await open()
    const latin = `${'long '.repeat(80)}{}`
    const cyrillic = 'длинное сообщение '.repeat(10)
    expect(await link.send(sms({ to: '+4917000001', text: latin }), never())).toMatchObject({ parts: 3 })
    expect(await link.send(sms({ to: '+4917000000', text: cyrillic }), never())).toMatchObject({ parts: 3 })
    await perl.until('submit_sm', 6)
    const whole = perl.got('submit_sm').filter(line => line['text'] !== null)
    expect(whole.map(line => line['text'])).toEqual([
      hex(`${'long '.repeat(80)}\x1b\x28\x1b\x29`),
      Buffer.from(cyrillic, 'utf16le').swap16().toString('hex'),
    ])
    await perl.until('deliver_sm_resp', 3)
    expect(receiptsOf(test.inbound).map(({ providerId }) => providerId)).toEqual([
      '00000A0F',
      '00000A10',
      '00000A11',
    ])
  })
})
