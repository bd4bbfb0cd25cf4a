import type { AttachmentType } from '../../contract/enums.ts'
import type { AccountId, AssetId } from '../../lib/ids.ts'

/** An uploaded file: what it is, and where its bytes are. Never changes; it may go. */
export type Asset = {
  id: AssetId
  accountId: AccountId
  mediaType: AttachmentType
  /** By its bytes, whatever it was declared as. */
  mimetype: string
  fileName: string
  /** In bytes. */
  size: number
  /** 32 bytes. */
  sha256: Buffer
}

/**
 * Where the file store keeps an asset's bytes: the id's end is random, so that
 * its last letters spread the files over a thousand folders.
 */
export function keyOf(id: AssetId): string {
  return `${id.slice(-2)}/${id}`
}
