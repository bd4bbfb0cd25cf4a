import * as baileys from 'baileys'
import { expect, test } from 'vitest'
import { readInbound } from '../../../src/channels/whatsapp-web/inbound.ts'

const session = { accountId: 'acc_00000000000000000000000001', name: 'front-desk' }
const from = (message: baileys.proto.IMessage, remoteJid = '12025550123@s.whatsapp.net') =>
  readInbound(baileys, { key: { remoteJid, id: 'A1', fromMe: false }, message }, session)

const file = { directPath: '/v/t62/1', mediaKey: Buffer.alloc(32, 3), mimetype: 'video/mp4', fileLength: 7 }
const asFile = (as: string) =>
  JSON.stringify({ as, path: file.directPath, key: file.mediaKey.toString('base64') })

test.each([
  ['a picture', { imageMessage: { ...file, caption: 'Look' } }, 'image', 'image', 'Look'],
  ['a video', { videoMessage: file }, 'video', 'video', null],
  ['a video note', { ptvMessage: file }, 'video', 'ptv', null],
  ['a voice message', { audioMessage: { ...file, ptt: true } }, 'audio', 'audio', null],
  ['a document', { documentMessage: file }, 'document', 'document', null],
  [
    'a document with a caption',
    { documentWithCaptionMessage: { message: { documentMessage: { ...file, caption: 'Look' } } } },
    'document',
    'document',
    'Look',
  ],
  ['a view-once picture', { viewOnceMessageV2: { message: { imageMessage: file } } }, 'image', 'image', null],
  ['a sticker', { stickerMessage: file }, 'image', 'sticker', null],
  [
    'a picture of an album',
    { associatedChildMessage: { message: { imageMessage: file } } },
    'image',
    'image',
    null,
  ],
  [
    'a disappearing picture',
    { ephemeralMessage: { message: { imageMessage: file } } },
    'image',
    'image',
    null,
  ],
] as const)('%s is read with its file', async (_, message, type, as, text) => {
  expect(from(message)).toMatchObject({
    from: '+12025550123',
    text,
    media: [{ type, reference: asFile(as) }],
  })
  await baileys.getMediaKeys(file.mediaKey, as)
})

const NOTHING = { text: null, button: null, buttonTitle: null }
const LONDON = { latitude: 51.5074, longitude: -0.1278 }
const inLondon = { degreesLatitude: 51.5074, degreesLongitude: -0.1278 }

test.each([
  [
    'a location',
    { locationMessage: { ...inLondon, name: 'Charing Cross', address: 'Strand, London' } },
    { location: { ...LONDON, name: 'Charing Cross', address: 'Strand, London' } },
  ],
  [
    'a location with a comment',
    { locationMessage: { ...inLondon, comment: 'Here' } },
    { text: 'Here', location: { ...LONDON, name: null, address: null } },
  ],
  [
    'a live location',
    { ephemeralMessage: { message: { liveLocationMessage: { ...inLondon, caption: 'On my way' } } } },
    { text: 'On my way', location: { ...LONDON, name: null, address: null } },
  ],
  [
    'a location without coordinates',
    { locationMessage: { name: 'Nowhere' } },
    { location: { latitude: Number.NaN, longitude: Number.NaN, name: 'Nowhere', address: null } },
  ],
  [
    'a contact card',
    {
      contactMessage: { displayName: 'Ada L.', vcard: 'BEGIN:VCARD\nFN:Ada Lovelace\nTEL:+44 20 7946 0000' },
    },
    { contacts: [{ id: null, name: 'Ada L.', phones: ['+44 20 7946 0000'], emails: [] }] },
  ],
  [
    'several contact cards',
    {
      contactsArrayMessage: {
        displayName: '2 contacts',
        contacts: [{ vcard: 'FN:Ada' }, { displayName: 'Bob' }],
      },
    },
    {
      contacts: [
        { id: null, name: 'Ada', phones: [], emails: [] },
        { id: null, name: 'Bob', phones: [], emails: [] },
      ],
    },
  ],
])('%s is read with its content', (_, message, expected) => {
  // As it arrives over the connection.
  const bytes = baileys.proto.Message.encode(baileys.proto.Message.fromObject(message)).finish()
  expect(from(baileys.proto.Message.decode(bytes))).toMatchObject({ ...NOTHING, ...expected })
})

test.each([
  ['a reaction', { reactionMessage: { text: '👍', key: { id: 'A0' } } }],
  ['an edit of a message', { protocolMessage: { editedMessage: { conversation: 'Hi' }, key: { id: 'A0' } } }],
  ['the deletion of a message', { protocolMessage: { type: 0, key: { id: 'A0' } } }],
])('%s is ignored', (_, message) => {
  expect(from(message)).toBeNull()
})

test.each(['status@broadcast', '120363020000000099@newsletter'])('a message from %s is ignored', chat => {
  expect(from({ conversation: 'Hi' }, chat)).toBeNull()
})
