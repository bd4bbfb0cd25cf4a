import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { FileUnavailable } from '../provider.ts'
import { CONNECT_MS, errorCode } from './client.ts'

export type Download = {
  /** The caller has checked that this is a host of the provider. */
  url: URL
  headers: Readonly<Record<string, string>>
  clock: Clock
}

/**
 * Streams the bytes of a URL over a connection of its own; the caller must read or destroy the stream.
 * Follows no redirect, since that would send the headers to another host. Rejects with `FileUnavailable`.
 */
export function openDownload({ url, headers, clock }: Download, signal: AbortSignal): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:'
    const request = (secure ? https : http).get(url, {
      agent: false,
      signal,
      headers: { 'User-Agent': 'Posthorn', Accept: '*/*', ...headers },
    })
    const fail = (code: string) => {
      stopConnecting()
      request.destroy()
      reject(new FileUnavailable(`the provider was not reached (${code})`, true))
    }
    const stopConnecting = clock.after(CONNECT_MS, () => fail('CONNECT_TIMEOUT'))
    request.once('socket', socket => socket.once(secure ? 'secureConnect' : 'connect', stopConnecting))
    request.on('error', error => fail(errorCode(error)))
    // Node closes a request without an 'error' event if the answer is an unexpected 101.
    request.on('close', () => reject(new FileUnavailable('the provider gave no answer', true)))
    request.on('response', response => {
      stopConnecting()
      if (response.statusCode === 200) return resolve(response)
      response.destroy()
      const gone = response.statusCode === 404 || response.statusCode === 410
      reject(new FileUnavailable(`the provider answered with HTTP ${response.statusCode}`, !gone))
    })
  })
}
