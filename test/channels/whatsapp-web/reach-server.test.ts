import { expect, test } from 'vitest'
import { withWebDefaults } from '../../../src/channels/whatsapp-web/config.ts'
import { reachServer } from '../../../src/channels/whatsapp-web/reach-server.ts'
import { whatsAppWebProvider } from '../../../src/channels/whatsapp-web.ts'
import { createCertificate } from '../../support/certificate.ts'
import { startChatappServer } from '../../support/chatapp-server.ts'
import { createIo, never } from '../conformance.ts'

test('a server is reached by TLS with the authority that was given', async () => {
  const certificate = createCertificate(['localhost'])
  const server = await startChatappServer({}, certificate)
  const asked = { socketUrl: server.url, tlsCa: certificate.cert }
  expect(await reachServer(asked, never())).toEqual({ ok: true, detail: 'localhost answers' })
  expect(await reachServer({ socketUrl: server.url }, never())).toMatchObject({ ok: false })
  await server.close()
})

test.each(['wss://[', 'wss://%', 'ws://localhost:65536'])(
  'the test of a connection says that %s is not a valid URL',
  async socketUrl => {
    const link = await whatsAppWebProvider.open({ ...withWebDefaults({}), socketUrl }, createIo())
    expect(await link.test!(never())).toEqual({ ok: false, detail: 'socketUrl is not a valid URL' })
  },
)
