import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { openDownload } from '../http/download.ts'
import { FileUnavailable } from '../provider.ts'
import { callGraph, type Graph, graphRequest } from './graph.ts'

/** Hosts of WhatsApp's files: besides Graph, the access token is sent to these only. */
const FILE_HOSTS = /(^|\.)(fbsbx\.com|fbcdn\.net|facebook\.com|whatsapp\.net)$/

/**
 * Opens a file that came with a message, by its id. Graph gives a URL that is valid for five minutes.
 * Source: https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#download-media.
 */
export async function openMedia(
  graph: Graph,
  { origin, phoneNumberId, clock }: { origin: URL; phoneNumberId: string; clock: Clock },
  reference: string,
  signal: AbortSignal,
): Promise<Readable> {
  if (!/^\d{1,64}$/.test(reference))
    throw new FileUnavailable('the reference is not a WhatsApp media id', false)
  const asked = await callGraph(
    graph,
    graphRequest(graph, `${reference}?phone_number_id=${phoneNumberId}`),
    signal,
  )
  if (asked.kind === 'unavailable') throw new FileUnavailable(asked.detail, true)
  // Graph refuses files that are gone, or that belong to another number.
  if (asked.kind === 'refused') throw new FileUnavailable('WhatsApp has no such file', false)
  const url = readAddress(asked.body['url'], origin)
  if (!url) throw new FileUnavailable('WhatsApp returned no download URL on a host of its own', true)
  const { Authorization = '' } = graph.headers
  return openDownload({ url, headers: { Authorization }, clock }, signal)
}

function readAddress(text: unknown, origin: URL): URL | null {
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (!url) return null
  const known = url.origin === origin.origin || (url.protocol === 'https:' && FILE_HOSTS.test(url.hostname))
  return known ? url : null
}
