import { type Static, Type } from 'typebox'
import { ATTACHMENT_TYPES } from './enums.ts'
import { IsoTime } from './envelope.ts'

/** An uploaded file as its account sees it. */
export const MediaAsset = Type.Object({
  id: Type.String({ description: 'Goes into `headerAssetId` and `attachment.assetId`' }),
  mediaType: Type.Enum(ATTACHMENT_TYPES),
  mimetype: Type.String({ description: 'By its bytes, whatever it was declared as' }),
  fileName: Type.String(),
  size: Type.Integer({ description: 'In bytes' }),
  sha256: Type.String({ description: 'In hexadecimal' }),
  previewUrl: Type.String({
    description: 'Shows the file to whoever has the address, for a day or so; no key',
  }),
  createdAt: IsoTime,
})
export type MediaAsset = Static<typeof MediaAsset>
