import { createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import type { MediaDecryptionKeyInfo } from 'baileys'

/** Length of the HMAC that follows an encrypted file. */
export const MAC_BYTES = 10
const CHUNK_BYTES = 65_536

/** An encrypted file, in the chat app's format, on our disk until it is closed. */
export type EncryptedFile = {
  sizeBytes: number
  sha256: Buffer
  /** Of the decrypted content. */
  plain: { sizeBytes: number; sha256: Buffer }
  /** Streams the encrypted bytes from the start; may be called repeatedly. */
  read(): Readable
  /** Streams the content; decrypted on the fly, so that no plain bytes are on the disk. */
  readPlain(): Readable
  close(): Promise<void>
}

/**
 * Encrypts a file onto the disk: its URL at the chat app needs the hash of all encrypted bytes first, and it may be
 * too large for memory. The file is unlinked at once, so that nothing stays however the process ends.
 */
export async function encryptFile(
  source: Readable,
  keys: MediaDecryptionKeyInfo,
  name: string,
): Promise<EncryptedFile> {
  try {
    const disk = await openUnlinked(name)
    try {
      return encryptedFileOn(disk, keys, await encryptTo(source, keys, disk))
    } catch (error) {
      await disk.close()
      throw error
    }
  } finally {
    source.destroy()
  }
}

async function openUnlinked(name: string): Promise<FileHandle> {
  const path = join(tmpdir(), name)
  const disk = await open(path, 'wx+', 0o600)
  try {
    await unlink(path)
  } catch (error) {
    await disk.close()
    throw error
  }
  return disk
}

type Measures = Pick<EncryptedFile, 'sizeBytes' | 'sha256' | 'plain'>

/** AES-256-CBC, followed by an HMAC. */
async function encryptTo(
  source: Readable,
  { iv, cipherKey, macKey }: MediaDecryptionKeyInfo,
  disk: FileHandle,
): Promise<Measures> {
  const cipher = createCipheriv('aes-256-cbc', cipherKey, iv)
  const proof = createHmac('sha256', macKey!).update(iv)
  const encryptedHash = createHash('sha256')
  const plain = createHash('sha256')
  let sizeBytes = 0
  let plainBytes = 0
  const put = async (bytes: Buffer) => {
    encryptedHash.update(bytes)
    sizeBytes += bytes.length
    await disk.writeFile(bytes)
  }
  const putText = (bytes: Buffer) => {
    proof.update(bytes)
    return put(bytes)
  }
  for await (const chunk of source as AsyncIterable<Buffer>) {
    plain.update(chunk)
    plainBytes += chunk.length
    await putText(cipher.update(chunk))
  }
  await putText(cipher.final())
  await put(proof.digest().subarray(0, MAC_BYTES))
  return {
    sizeBytes,
    sha256: encryptedHash.digest(),
    plain: { sizeBytes: plainBytes, sha256: plain.digest() },
  }
}

function encryptedFileOn(
  disk: FileHandle,
  { iv, cipherKey }: MediaDecryptionKeyInfo,
  measures: Measures,
): EncryptedFile {
  const readTo = (end: number) => Readable.from(bytesTo(end, disk), { objectMode: false })
  return {
    ...measures,
    read: () => readTo(measures.sizeBytes),
    readPlain() {
      const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
      // Either stream ends with the other; errors reach the reader by the decrypted stream.
      pipeline(readTo(measures.sizeBytes - MAC_BYTES), decipher, () => {})
      return decipher
    },
    close: () => disk.close(),
  }
}

/** Not by the handle's own read stream, which closes the file when it is destroyed. */
async function* bytesTo(end: number, disk: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; position < end; ) {
    const length = Math.min(CHUNK_BYTES, end - position)
    const { buffer, bytesRead } = await disk.read({ buffer: Buffer.alloc(length), position })
    if (bytesRead === 0) throw new Error('an encrypted file on disk is shorter than it was')
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
