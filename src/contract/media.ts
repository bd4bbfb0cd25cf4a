import { type Static, Type } from 'typebox'
import { ATTACHMENT_TYPES } from './enums.ts'
import { IsoTime } from './envelope.ts'

/** An uploaded file as its account sees it. */
export const MediaAsset = Type.Object({
  id: Type.String({ description: 'The value for `headerAssetId` and `attachment.assetId`' }),
  mediaType: Type.Enum(ATTACHMENT_TYPES),
  mimetype: Type.String({ description: 'Detected from the bytes, whatever type was declared' }),
  fileName: Type.String(),
  size: Type.Integer({ description: 'In bytes' }),
  sha256: Type.String({ description: 'In hexadecimal' }),
  previewUrl: Type.String({
    description: 'Returns the file without a key to anyone with the URL, for about a day',
  }),
  createdAt: IsoTime,
})
export type MediaAsset = Static<typeof MediaAsset>
