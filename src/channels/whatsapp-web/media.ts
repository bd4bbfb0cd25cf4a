import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { pipeline, type Readable, Transform } from 'node:stream'
import type { MediaDecryptionKeyInfo, MediaType } from 'baileys'
import type { Clock } from '../../lib/clock.ts'
import { openDownload } from '../http/download.ts'
import { FileUnavailable } from '../provider.ts'
import type { Baileys } from './library.ts'
import { PROOF_BYTES } from './sealed-file.ts'

/** Where the chat app keeps the files of messages. */
const MEDIA_ORIGIN = 'https://mmg.whatsapp.net'

/** The bytes behind an address. Rejects with `FileUnavailable`. */
export type Download = (url: URL, signal: AbortSignal) => Promise<Readable>

export function downloadBy(clock: Clock): Download {
  return (url, signal) => openDownload({ url, headers: {}, clock }, signal)
}

/**
 * Opens a file that came with a message (inbound.ts has written the reference). Not by the library: it does
 * not listen to its downloads, so that one that is cut would end the process, and heeds no signal.
 */
export async function openMediaOf(
  { getMediaKeys }: Pick<Baileys, 'getMediaKeys'>,
  reference: string,
  download: Download,
  signal: AbortSignal,
): Promise<Readable> {
  const { as, path, key } = JSON.parse(reference) as { as: MediaType; path: string; key: string }
  // Whoever sent it wrote the path: it must stay one.
  if (!/^\/[^/]/.test(path)) throw new FileUnavailable('the file of this message lies nowhere', false)
  const keys = await getMediaKeys(Buffer.from(key, 'base64'), as)
  return unsealed(await download(new URL(MEDIA_ORIGIN + path), signal), keys)
}

/** The file in its seal: AES-256-CBC, with a proof behind it. Fails at its end where it is cut, or another file. */
function unsealed(sealed: Readable, { iv, cipherKey, macKey }: MediaDecryptionKeyInfo): Readable {
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
  const proof = createHmac('sha256', macKey!).update(iv)
  let held: Buffer = Buffer.alloc(0)
  const plain = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const bytes = Buffer.concat([held, chunk])
      const end = Math.max(0, bytes.length - PROOF_BYTES)
      const text = bytes.subarray(0, end)
      held = bytes.subarray(end)
      proof.update(text)
      done(null, decipher.update(text))
    },
    flush(done) {
      const wanted = proof.digest().subarray(0, PROOF_BYTES)
      if (held.length !== PROOF_BYTES || !timingSafeEqual(held, wanted)) {
        return done(new Error('the file of this message did not come whole'))
      }
      done(null, decipher.final())
    },
  })
  // Whoever reads hears of a failure by the plain bytes.
  pipeline(sealed, plain, () => {})
  return plain
}
