import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { MediaAsset } from '../../../src/contract/media.ts'
import { faultPaths, startTestApp, type TestAccount, type TestApp } from '../../support/app.ts'
import { docx, jpeg, mp4, pdf, png, sha256, zip } from '../../support/files.ts'
import { mediaLeft, upload, uploadFile } from '../../support/media.ts'

const MB = 1024 * 1024
const OOXML = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

describe('POST /api/v2/templates/media', () => {
  let app: TestApp
  let account: TestAccount

  beforeAll(async () => {
    app = await startTestApp()
    account = await app.createAccount()
  })
  afterAll(() => app.stop())

  it('returns 201 with a description of the file', async () => {
    const bytes = png()
    const answer = await upload(app, account.testKey, [
      { name: 'file', bytes, fileName: 'red.png', type: 'image/png' },
    ])
    expect(answer.status).toBe(201)
    const { asset } = answer.body['data'] as { asset: MediaAsset }
    expect(asset).toEqual({
      id: expect.stringMatching(/^ast_[0-9a-z]{26}$/),
      mediaType: 'image',
      mimetype: 'image/png',
      fileName: 'red.png',
      size: bytes.length,
      sha256: sha256(bytes),
      previewUrl: expect.stringContaining(`/media/${asset.id}?token=`),
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(await account.read(`/api/v2/templates/media/${asset.id}`)).toEqual(asset)
  })

  it.each<[string, Buffer, string | null, string, string]>([
    ['a JPEG', jpeg(), 'image/jpeg', 'image/jpeg', 'image'],
    ['a JPEG declared as image/jpg', jpeg(), 'image/jpg', 'image/jpeg', 'image'],
    ['a PNG without a declared type', png(), null, 'image/png', 'image'],
    ['a PNG declared as application/octet-stream', png(), 'application/octet-stream', 'image/png', 'image'],
    ['a video', mp4(), 'video/mp4', 'video/mp4', 'video'],
    ['audio in an MP4 container', mp4(), 'audio/mp4', 'audio/mp4', 'audio'],
    ['a PDF', pdf(), 'application/pdf', 'application/pdf', 'document'],
    ['an office document', docx(), OOXML, OOXML, 'document'],
    [
      'an office document that lists its types at its end',
      docx({ typesLast: true, before: 200_000 }),
      OOXML,
      OOXML,
      'document',
    ],
    ['text', Buffer.from('Grüße an alle\n'), 'text/plain', 'text/plain', 'document'],
    ['a CSV file', Buffer.from('a,b\n1,2\n'), 'text/csv; charset=utf-8', 'text/csv', 'document'],
    [
      'a CSV file that begins like a BMP image',
      Buffer.from('BMI,kg\n22,70\n'),
      'text/csv',
      'text/csv',
      'document',
    ],
    [
      'a CSV file that begins like an MP3 file',
      Buffer.from('ID3,b\n1,2\n'),
      'text/csv',
      'text/csv',
      'document',
    ],
    [
      'text that begins like a Windows program',
      Buffer.from('MZ is short.\n'),
      null,
      'text/plain',
      'document',
    ],
  ])('accepts %s', async (_, bytes, type, mimetype, mediaType) => {
    const asset = await uploadFile(app, account.testKey, bytes, { type })
    expect(asset).toMatchObject({ mimetype, mediaType, size: bytes.length, sha256: sha256(bytes) })
  })

  it.each<[string, string, string]>([
    ['a Windows path', 'C:\\Users\\me\\photo.png', 'photo.png'],
    ['a relative path', '../../etc/photo.png', 'photo.png'],
    ['a name of dots only', '..', 'image.png'],
    ['a name in other scripts', 'Фото – 写真.png', 'Фото – 写真.png'],
  ])('derives the file name from %s', async (_, fileName, expected) => {
    expect((await uploadFile(app, account.testKey, png(), { fileName })).fileName).toBe(expected)
  })

  describe('rejects', () => {
    it.each<[string, Buffer, string | null]>([
      ['a PNG declared as a JPEG', png(), 'image/jpeg'],
      ['text declared as a PNG', Buffer.from('not a picture'), 'image/png'],
      ['an ELF program', Buffer.from('7f454c4602010100000000000000000002003e00', 'hex'), null],
      ['an HTML page', Buffer.from('<!doctype html><script>alert(1)</script>'), 'text/html'],
      ['an SVG image', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
      ['an XML document', Buffer.from('<?xml version="1.0"?><a/>'), null],
      ['an RTF document declared as text', Buffer.from('{\\rtf1 Hi}'), 'text/plain'],
      ['a GIF', Buffer.from('GIF89a\x01\0\x01\0\x80\0\0', 'latin1'), 'image/gif'],
      [
        'a ZIP archive declared as an office document',
        zip([{ name: 'a.txt', data: Buffer.from('a') }]),
        OOXML,
      ],
      ['a ZIP archive', zip([{ name: 'a.txt', data: Buffer.from('a') }]), null],
      ['text with bytes that are not UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'text/plain'],
      ['text that ends within a UTF-8 character', Buffer.from('Grü').subarray(0, -1), 'text/plain'],
      [
        'text with a NUL byte at its end',
        Buffer.concat([Buffer.alloc(70_000, 0x61), Buffer.from([0])]),
        'text/plain',
      ],
      ['an empty file', Buffer.alloc(0), 'image/png'],
    ])('%s with 400, naming the field', async (_, bytes, type) => {
      const before = await mediaLeft(app)
      const answer = await upload(app, account.testKey, [{ name: 'file', bytes, fileName: 'x', type }])
      expect([answer.status, answer.body['code']]).toEqual([400, 'VALIDATION_ERROR'])
      expect(faultPaths(answer)).toEqual(['file'])
      expect(await mediaLeft(app)).toEqual(before)
    })

    it.each<[string, Buffer, string]>([
      ['a picture of more than 16 MB', jpeg(16 * MB), 'image/jpeg'],
      ['a video of more than 16 MB', mp4(16 * MB), 'video/mp4'],
      ['a document of more than 100 MB', pdf(100 * MB + 1_000), 'application/pdf'],
    ])('%s with 413', async (_, bytes, type) => {
      const before = await mediaLeft(app)
      const answer = await upload(app, account.testKey, [{ name: 'file', bytes, fileName: 'x', type }])
      expect([answer.status, answer.body['code']]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
      expect(await mediaLeft(app)).toEqual(before)
    })

    it('a body larger than any allowed file with 413', async () => {
      const answer = await upload(app, account.testKey, [
        { name: 'file', bytes: Buffer.alloc(110 * MB), fileName: 'x', type: 'application/pdf' },
      ])
      expect(answer.status).toBe(413)
    })

    it.each<[string, Parameters<typeof upload>[2], string]>([
      ['a form without a file', [{ name: 'other', text: 'x' }], 'file'],
      ['an empty form', [], 'file'],
      ['text in place of the file', [{ name: 'file', text: 'hello' }], 'file'],
      ['a file in another field', [{ name: 'photo', bytes: png(), type: 'image/png' }], 'photo'],
      [
        'two files',
        [
          { name: 'file', bytes: png() },
          { name: 'file', bytes: png() },
        ],
        'file',
      ],
      [
        'a field given twice',
        [
          { name: 'a', text: '1' },
          { name: 'a', text: '2' },
          { name: 'file', bytes: png() },
        ],
        'a',
      ],
      [
        'a NUL character in a field',
        [
          { name: 'file', bytes: png() },
          { name: 'a', text: 'x\0y' },
        ],
        'a',
      ],
    ])('an invalid form, naming the field: %s', async (_, parts, path) => {
      const before = await mediaLeft(app)
      const answer = await upload(app, account.testKey, parts)
      expect([answer.status, faultPaths(answer)]).toEqual([400, [path]])
      expect(await mediaLeft(app)).toEqual(before)
    })
  })
})
