import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import type { MediaDecryptionKeyInfo, MediaType } from 'baileys'
import type { Clock } from '../../lib/clock.ts'
import { openDownload } from '../http/download.ts'
import { FileUnavailable } from '../provider.ts'
import { MAC_BYTES } from './encrypted-file.ts'
import type { Baileys } from './library.ts'

/** The chat app's media server. */
const MEDIA_ORIGIN = 'https://mmg.whatsapp.net'

/** Streams the bytes of a URL. Rejects with `FileUnavailable`. */
export type Download = (url: URL, signal: AbortSignal) => Promise<Readable>

export function createDownload(clock: Clock): Download {
  return (url, signal) => openDownload({ url, headers: {}, clock }, signal)
}

/**
 * Opens a file that came with a message, by the reference from inbound.ts. Not by the library: a download
 * that is cut would end the process there, and it takes no signal.
 */
export async function openMediaOf(
  { getMediaKeys }: Pick<Baileys, 'getMediaKeys'>,
  reference: string,
  download: Download,
  signal: AbortSignal,
): Promise<Readable> {
  const { as, path, key } = JSON.parse(reference) as { as: MediaType; path: string; key: string }
  // The message's sender chose the path: it must not change the host.
  if (!/^\/[^/]/.test(path)) throw new FileUnavailable('the message has no valid path of its file', false)
  const keys = await getMediaKeys(Buffer.from(key, 'base64'), as)
  return decrypt(await download(new URL(MEDIA_ORIGIN + path), signal), keys)
}

/** Decrypts a file: AES-256-CBC, followed by an HMAC. The stream fails at its end if the HMAC does not fit. */
function decrypt(encrypted: Readable, { iv, cipherKey, macKey }: MediaDecryptionKeyInfo): Readable {
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
  const proof = createHmac('sha256', macKey!).update(iv)
  let held: Buffer = Buffer.alloc(0)
  const plain = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([held, chunk])
      const end = Math.max(0, bytes.length - MAC_BYTES)
      const text = bytes.subarray(0, end)
      held = bytes.subarray(end)
      proof.update(text)
      done(null, decipher.update(text))
    },
    flush(done) {
      const wanted = proof.digest().subarray(0, MAC_BYTES)
      if (held.length !== MAC_BYTES || !timingSafeEqual(held, wanted)) {
        return done(new Error('the downloaded file is incomplete or altered'))
      }
      done(null, decipher.final())
    },
  })
  // Errors of the pipeline reach the reader by `plain`.
  pipeline(encrypted, plain, () => {})
  return plain
}
