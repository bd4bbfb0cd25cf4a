import { afterEach, describe, expect, test } from 'vitest'
import type { Link } from '../../src/channels/provider.ts'
import { type HttpPeer, startHttpPeer } from '../support/http-peer.ts'
import { createIo, never, outgoing, settled } from './conformance.ts'
import { type Exchange, type HttpFixture, SMS } from './http-fixture.ts'
import { httpSmsExchanges, httpSmsFixture } from './http-sms.exchange.ts'
import { infobipExchanges, infobipFixture } from './infobip.exchange.ts'
import { telegramExchanges, telegramFixture } from './telegram.exchange.ts'
import { twilioExchanges, twilioFixture } from './twilio.exchange.ts'
import { vonageExchanges, vonageFixture } from './vonage.exchange.ts'
import { whatsAppCloudExchanges, whatsAppCloudFixture } from './whatsapp-cloud.exchange.ts'

const open: { link: Link; peer: HttpPeer }[] = []
afterEach(async () => {
  for (const { link, peer } of open.splice(0)) {
    await link.close()
    await peer.close()
  }
})

describeExchanges('twilio', twilioFixture, twilioExchanges)
describeExchanges('vonage', vonageFixture, vonageExchanges)
describeExchanges('infobip', infobipFixture, infobipExchanges)
describeExchanges('http-sms', httpSmsFixture, httpSmsExchanges)
describeExchanges('whatsapp-cloud', whatsAppCloudFixture, whatsAppCloudExchanges)
describeExchanges('telegram', telegramFixture, telegramExchanges)

function describeExchanges<C>(
  name: string,
  fixture: HttpFixture<C>,
  exchanges: readonly Exchange<C>[],
): void {
  describe(`${name}: requests, and the outcomes of their responses`, () => {
    test.each(exchanges.map(exchange => [exchange.name, exchange] as const))('%s', async (_, exchange) => {
      const peer = await startHttpPeer(() => exchange.answer)
      const io = createIo()
      const link = await fixture.provider.open(configOf(fixture, exchange, peer.url), io)
      open.push({ link, peer })
      const message = outgoing(1, { ...SMS, text: 'short', ...exchange.message })
      const outcome = await settled(link.send(message, never()), 'send()')
      expect(outcome).toMatchObject(exchange.outcome)
      if (exchange.link) expect(io.reports.at(-1)?.state).toBe(exchange.link)
      if (exchange.request) compare(peer.requests, exchange.request)
      // Whatever the outcome, there is one request at most.
      expect(peer.requests.length).toBeLessThanOrEqual(1)
    })
  })
}

/** Replaces `BASE` in a configuration of the table by the URL of the peer. */
function configOf<C>(fixture: HttpFixture<C>, exchange: Exchange<C>, url: string): C {
  const config = { ...fixture.configFor(url), ...exchange.config }
  return JSON.parse(JSON.stringify(config).replaceAll('"BASE', `"${url}`)) as C
}

function compare(asked: HttpPeer['requests'], wanted: NonNullable<Exchange<unknown>['request']>): void {
  expect(asked).toHaveLength(1)
  const [request] = asked
  if (wanted.method !== undefined) expect(request!.method).toBe(wanted.method)
  if (wanted.path !== undefined) expect(request!.path).toBe(wanted.path)
  if (wanted.headers) expect(request!.headers).toMatchObject(wanted.headers)
  if (wanted.form) expect(Object.fromEntries(new URLSearchParams(request!.body))).toMatchObject(wanted.form)
  if (wanted.json !== undefined) expect(JSON.parse(request!.body)).toEqual(wanted.json)
  if (wanted.body !== undefined) expect(request!.body).toBe(wanted.body)
}
