import { createHash } from 'node:crypto'
import type { SandboxMedia } from '../../contract/sandbox.ts'
import { FileUnavailable, type Outcome, type OutgoingFile } from '../provider.ts'
import { outcomeOfFile } from '../shared/outcome.ts'

/** The largest document that any channel takes. */
const LARGEST_FILE_BYTES = 100 * 1024 * 1024

/** The files of a message, read; null where it has none. */
export type Prepared = { media: SandboxMedia[] | null }

/** The files as the inbox describes them, or the outcome if one cannot be read. */
export async function readFiles(
  files: readonly OutgoingFile[],
  signal: AbortSignal,
): Promise<Prepared | Outcome> {
  if (files.length === 0) return { media: null }
  try {
    const media: SandboxMedia[] = []
    for (const file of files) media.push(await readFile(file, signal))
    return { media }
  } catch (error) {
    return outcomeOfFile(error)
  }
}

/** Reads to the end as a real provider would, and keeps only the size and the hash. */
async function readFile(file: OutgoingFile, signal: AbortSignal): Promise<SandboxMedia> {
  const sha256 = createHash('sha256')
  let sizeBytes = 0
  signal.throwIfAborted()
  for await (const chunk of await file.open(signal)) {
    signal.throwIfAborted()
    sha256.update(chunk)
    sizeBytes += Buffer.byteLength(chunk)
    if (sizeBytes > LARGEST_FILE_BYTES) throw new FileUnavailable('The file is larger than 100 MiB.', false)
  }
  return {
    type: file.type,
    mimetype: file.mimetype,
    fileName: file.fileName,
    sizeBytes,
    sha256: sha256.digest('hex'),
    ...(file.publicUrl !== undefined && { publicUrl: file.publicUrl }),
  }
}
