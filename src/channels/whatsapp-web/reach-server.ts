import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { LinkTest } from '../provider.ts'
import type { WebConfig } from './config.ts'

/** Whether sessions could connect to the server: TCP, and TLS where the URL is wss. Links no device. Never rejects. */
export async function reachServer(
  { socketUrl, tlsCa }: Pick<WebConfig, 'socketUrl' | 'tlsCa'>,
  signal: AbortSignal,
): Promise<LinkTest> {
  const url = URL.parse(socketUrl)
  if (!url) return { ok: false, detail: 'socketUrl is not a valid URL' }
  const { protocol, hostname, port } = url
  const secure = protocol === 'wss:'
  const where = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (secure ? 443 : 80)) }
  return new Promise(resolve => {
    const socket = secure
      ? connectTls({ ...where, servername: where.host, ...(tlsCa !== undefined && { ca: tlsCa }) })
      : connect(where)
    const end = (ok: boolean, detail: string) => {
      signal.removeEventListener('abort', late)
      socket.destroy()
      resolve({ ok, detail })
    }
    const late = () => end(false, `${where.host} did not answer in time`)
    signal.addEventListener('abort', late, { once: true })
    socket.once(secure ? 'secureConnect' : 'connect', () => end(true, `${where.host} answers`))
    socket.once('error', error => end(false, `${where.host}: ${error.message}`))
  })
}
