import type { AttachmentType } from '../../contract/enums.ts'

/** A file type that is accepted, and how it is recognised. */
export type Format = {
  mimetype: string
  mediaType: AttachmentType
  extension: string
  /** Other media types that clients declare it as. */
  alias?: readonly string[]
  /** What its bytes are recognised as. Where that is only a container, the declared type decides. */
  detectedAs: readonly string[]
  /** Its bytes alone do not tell it from others in the same container. */
  onlyDeclared?: boolean
  /** The folder that such an archive holds. */
  folder?: string
}

const MEGABYTE = 1024 * 1024

/** The largest files in bytes, by their kind. */
export const MAX_BYTES: Readonly<Record<AttachmentType, number>> = {
  image: 16 * MEGABYTE,
  video: 16 * MEGABYTE,
  audio: 16 * MEGABYTE,
  document: 100 * MEGABYTE,
}

const OOXML = 'application/vnd.openxmlformats-officedocument'
const ODF = 'application/vnd.oasis.opendocument'
/** The container of office documents up to 2003; which kind it is can only be seen deep inside. */
const COMPOUND = ['application/x-cfb']
const ARCHIVE = 'application/zip'

/** Types that the chat apps, bots and mail all carry. None of them runs scripts in a browser. */
export const FORMATS: readonly Format[] = [
  {
    mimetype: 'image/jpeg',
    mediaType: 'image',
    extension: 'jpg',
    alias: ['image/jpg', 'image/pjpeg'],
    detectedAs: ['image/jpeg'],
  },
  { mimetype: 'image/png', mediaType: 'image', extension: 'png', detectedAs: ['image/png', 'image/apng'] },
  { mimetype: 'image/webp', mediaType: 'image', extension: 'webp', detectedAs: ['image/webp'] },
  { mimetype: 'video/mp4', mediaType: 'video', extension: 'mp4', detectedAs: ['video/mp4', 'video/x-m4v'] },
  {
    mimetype: 'video/3gpp',
    mediaType: 'video',
    extension: '3gp',
    alias: ['video/3gp'],
    detectedAs: ['video/3gpp', 'video/3gpp2'],
  },
  {
    mimetype: 'audio/mpeg',
    mediaType: 'audio',
    extension: 'mp3',
    alias: ['audio/mp3'],
    detectedAs: ['audio/mpeg'],
  },
  {
    mimetype: 'audio/mp4',
    mediaType: 'audio',
    extension: 'm4a',
    alias: ['audio/x-m4a', 'audio/m4a'],
    // The same container as a video's, as phones record it.
    detectedAs: ['audio/mp4', 'audio/x-m4a', 'video/mp4'],
  },
  { mimetype: 'audio/aac', mediaType: 'audio', extension: 'aac', detectedAs: ['audio/aac'] },
  { mimetype: 'audio/amr', mediaType: 'audio', extension: 'amr', detectedAs: ['audio/amr'] },
  {
    mimetype: 'audio/ogg',
    mediaType: 'audio',
    extension: 'ogg',
    alias: ['audio/opus'],
    detectedAs: ['audio/ogg', 'audio/ogg; codecs=opus'],
  },
  {
    mimetype: 'application/pdf',
    mediaType: 'document',
    extension: 'pdf',
    alias: ['application/x-pdf'],
    detectedAs: ['application/pdf'],
  },
  office(`${OOXML}.wordprocessingml.document`, 'docx', 'word/'),
  office(`${OOXML}.spreadsheetml.sheet`, 'xlsx', 'xl/'),
  office(`${OOXML}.presentationml.presentation`, 'pptx', 'ppt/'),
  office(`${ODF}.text`, 'odt', null),
  office(`${ODF}.spreadsheet`, 'ods', null),
  office(`${ODF}.presentation`, 'odp', null),
  {
    mimetype: 'application/msword',
    mediaType: 'document',
    extension: 'doc',
    detectedAs: COMPOUND,
    onlyDeclared: true,
  },
  {
    mimetype: 'application/vnd.ms-excel',
    mediaType: 'document',
    extension: 'xls',
    detectedAs: COMPOUND,
    onlyDeclared: true,
  },
  {
    mimetype: 'application/vnd.ms-powerpoint',
    mediaType: 'document',
    extension: 'ppt',
    detectedAs: COMPOUND,
    onlyDeclared: true,
  },
  { mimetype: 'text/plain', mediaType: 'document', extension: 'txt', detectedAs: ['text/plain'] },
  {
    mimetype: 'text/csv',
    mediaType: 'document',
    extension: 'csv',
    detectedAs: ['text/plain'],
    onlyDeclared: true,
  },
]

function office(mimetype: string, extension: string, folder: string | null): Format {
  return {
    mimetype,
    mediaType: 'document',
    extension,
    // An archive's table of contents may be at its end: then the first bytes only show an archive.
    detectedAs: folder === null ? [mimetype] : [mimetype, ARCHIVE],
    ...(folder !== null && { folder }),
  }
}

/** Declared types that mean "unknown". A form's part without a type is text/plain by RFC 7578. */
const GENERIC_TYPES = new Set(['', 'application/octet-stream', 'binary/octet-stream', 'text/plain'])

/**
 * The format of a file whose bytes were recognised as `detected` (null: not recognised)
 * and that was declared as `declared`; or the message of the refusal.
 */
export function chooseFormat(detected: string | null, declared: string): Format | string {
  const name = declared.split(';', 1)[0]!.trim().toLowerCase()
  if (GENERIC_TYPES.has(name)) {
    const found = FORMATS.find(each => isRecognised(each, detected))
    return found ?? `must be of an accepted type; its content is ${describe(detected)}`
  }
  const format = FORMATS.find(each => each.mimetype === name || each.alias?.includes(name))
  if (!format) return `must be of an accepted type; ${name} is not accepted`
  if (detected !== null && format.detectedAs.includes(detected)) return format
  return `must be ${name}, as declared; its content is ${describe(detected)}`
}

/** Whether the bytes alone prove the format. */
function isRecognised({ detectedAs, onlyDeclared }: Format, detected: string | null): boolean {
  return onlyDeclared !== true && detected !== null && detected !== ARCHIVE && detectedAs.includes(detected)
}

function describe(detected: string | null): string {
  return detected ?? 'of no known type'
}
