import type { AttachmentType } from '../../contract/enums.ts'
import type { AccountId, AssetId } from '../../lib/ids.ts'

/** An uploaded file. It never changes, but may be deleted. */
export type Asset = {
  id: AssetId
  accountId: AccountId
  mediaType: AttachmentType
  /** Recognised from its bytes, whatever it was declared as. */
  mimetype: string
  fileName: string
  /** In bytes. */
  size: number
  /** 32 bytes. */
  sha256: Buffer
}

/**
 * The key of an asset's bytes in the file store. The end of an id is random, so
 * its last letters spread the files over a thousand folders.
 */
export function fileKey(id: AssetId): string {
  return `${id.slice(-2)}/${id}`
}
