import type { BinaryNode } from 'baileys'
import type { AttachmentType } from '../../contract/enums.ts'
import { type Clock, within } from '../../lib/clock.ts'
import { type Answer, createHttpClient, type HttpRequest } from '../http/client.ts'
import { parseJsonObject } from '../http/inbound.ts'
import type { EncryptedFile } from './encrypted-file.ts'
import type { Line } from './line.ts'

/** Where an uploaded file is: a URL, a path, or both. */
export type UploadLocation = { url: string | null; directPath: string | null }

/** Uploads encrypted files to the chat app's media servers. */
export type Uploads = {
  /** Rejects where no server took it, or the signal aborts. */
  upload(
    line: Pick<Line, 'sock'>,
    type: AttachmentType,
    file: EncryptedFile,
    signal: AbortSignal,
  ): Promise<UploadLocation>
}

type Servers = { hosts: readonly string[]; token: string }

/** Time-out per server: another one may be left to try. */
const UPLOAD_TIMEOUT_MS = 25_000
/** The Origin header that the chat app's own web client sends. */
const ORIGIN = 'https://web.whatsapp.com'

/**
 * Not by the library: there, an upload whose answer is cut never ends and keeps its files forever, and
 * one failed query for the media servers is cached for as long as the line lives.
 */
export function createUploads({ clock, tlsCa }: { clock: Clock; tlsCa: string | undefined }): Uploads {
  let known: { sock: Line['sock']; servers: Servers; untilMs: number } | null = null

  async function serversOf({ sock }: Pick<Line, 'sock'>): Promise<Servers> {
    if (known?.sock === sock && clock.monotonic() < known.untilMs) return known.servers
    const { query: ask } = sock
    const answer = readServers((await ask(MEDIA_CONN_QUERY)) as BinaryNode)
    known = { sock, servers: answer.servers, untilMs: clock.monotonic() + answer.validMs }
    return answer.servers
  }

  async function uploadTo(
    host: string,
    path: string,
    file: EncryptedFile,
    signal: AbortSignal,
  ): Promise<UploadLocation> {
    const origin = URL.parse(`https://${host}`)
    if (!origin) throw new Error('WhatsApp named no media server')
    const client = createHttpClient({ origin, connections: 1, clock, tlsCa })
    try {
      const request: HttpRequest = {
        method: 'POST',
        path,
        headers: { 'Content-Type': 'application/octet-stream', Origin: ORIGIN },
        body: { bytes: file.read(), lengthBytes: file.sizeBytes },
      }
      const exchange = await within(clock, UPLOAD_TIMEOUT_MS, late =>
        client.exchange(request, AbortSignal.any([signal, late])),
      )
      if (exchange.kind === 'answer') return readLocation(exchange.answer)
      throw new Error(`WhatsApp’s media server was not reached (${exchange.code})`)
    } finally {
      client.close()
    }
  }

  return {
    async upload(line, type, file, signal) {
      const { hosts, token } = await serversOf(line)
      const hash = file.sha256.toString('base64url')
      const path = `/mms/${type}/${hash}?auth=${encodeURIComponent(token)}&token=${hash}`
      let failure: unknown = new Error('WhatsApp named no media server')
      for (const host of hosts) {
        if (signal.aborted) break
        try {
          return await uploadTo(host, path, file, signal)
        } catch (error) {
          failure = error
        }
      }
      // The servers' authorisation may have expired: it is queried again next time.
      known = null
      throw failure
    },
  }
}

const MEDIA_CONN_QUERY: BinaryNode = {
  tag: 'iq',
  attrs: { type: 'set', xmlns: 'w:m', to: 's.whatsapp.net' },
  content: [{ tag: 'media_conn', attrs: {} }],
}

function readServers(answer: BinaryNode): { servers: Servers; validMs: number } {
  const found = childrenOf(answer).find(({ tag }) => tag === 'media_conn')
  if (!found) throw new Error('WhatsApp named no media server')
  const hosts = childrenOf(found).flatMap(({ tag, attrs }) =>
    tag === 'host' && attrs['hostname'] ? [attrs['hostname']] : [],
  )
  const { auth: token = '', ttl } = found.attrs
  return { servers: { hosts, token }, validMs: (Number(ttl) || 0) * 1_000 }
}

function childrenOf({ content }: BinaryNode): BinaryNode[] {
  return Array.isArray(content) ? content : []
}

function readLocation({ status, body }: Answer): UploadLocation {
  const place = locationIn(body)
  if (status !== 200 || !place) throw new Error(`WhatsApp’s media server answered with HTTP ${status}`)
  return place
}

function locationIn(body: Buffer): UploadLocation | null {
  const told = parseJsonObject(body)
  const place = { url: stringIn(told?.['url']), directPath: stringIn(told?.['direct_path']) }
  return place.url === null && place.directPath === null ? null : place
}

function stringIn(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
