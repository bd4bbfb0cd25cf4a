import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listen } from './loopback.ts'
import { createSignals } from './signals.ts'

export const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
export const REGION = 'eu-test-1'
export const BUCKET = 'posthorn-media'

export type S3Server = {
  endpoint: string
  objects: Map<string, Buffer>
  /** Uploads that are not complete, with their parts, by upload id. */
  uploads: Map<string, { key: string; parts: Map<number, Buffer> }>
  /** The operation of each request, such as `PutObject`, in order. */
  requests: string[]
  /** The operations of requests with an invalid signature or body hash. */
  unsigned: string[]
  /** Answers the next requests of this operation with this status instead. */
  fail(operation: string, status: number, times?: number): void
  /** Does not answer requests of this operation any more, or with `midway` sends only the head and the first byte. */
  silence(operation: string, how?: 'midway'): void
  until(holds: () => boolean): Promise<void>
  close(): Promise<void>
}

/**
 * The part of S3 that a file store uses, on the loopback: objects with ranges, multipart uploads, and
 * verification of every signature (SigV4).
 */
export async function startS3Server(): Promise<S3Server> {
  const state = {
    objects: new Map<string, Buffer>(),
    uploads: new Map(),
    requests: [],
    unsigned: [],
  } as Pick<S3Server, 'objects' | 'uploads' | 'requests' | 'unsigned'>
  const failures = new Map<string, { status: number; times: number }>()
  const silent = new Map<string, 'midway' | undefined>()
  const signals = createSignals()
  let uploads = 0

  const server = createServer(async (request, response) => {
    const body = await readBody(request)
    const url = new URL(request.url!, 'http://s3')
    const operation = operationOf(request.method!, url)
    state.requests.push(operation)
    if (!isSigned(request, url, body)) state.unsigned.push(operation)
    signals.notify()
    const failure = failures.get(operation)
    if (silent.has(operation)) {
      if (silent.get(operation) === 'midway') response.writeHead(200, { 'content-length': 1_000 }).write('x')
    } else if (failure && failure.times-- > 0) answerError(response, failure.status, 'InternalError')
    else answer(operation, keyOf(url), url.searchParams, request, body, response)
    signals.notify()
  })

  function answer(
    operation: string,
    key: string,
    query: URLSearchParams,
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ): unknown {
    const upload = state.uploads.get(query.get('uploadId') ?? '')
    switch (operation) {
      case 'PutObject':
        state.objects.set(key, body)
        return response.setHeader('ETag', etag(body)).end()
      case 'GetObject':
        return sendObject(state.objects.get(key), request, response)
      case 'DeleteObject':
        state.objects.delete(key)
        return response.writeHead(204).end()
      case 'CreateMultipartUpload': {
        const id = `upload-${++uploads}`
        state.uploads.set(id, { key, parts: new Map() })
        return xml(
          response,
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        )
      }
      case 'UploadPart':
        if (!upload) return answerError(response, 404, 'NoSuchUpload')
        upload.parts.set(Number(query.get('partNumber')), body)
        return response.setHeader('ETag', etag(body)).end()
      case 'CompleteMultipartUpload': {
        if (!upload) return answerError(response, 404, 'NoSuchUpload')
        const parts = [...upload.parts].sort(([left], [right]) => left - right).map(([, part]) => part)
        if (parts.slice(0, -1).some(part => part.length < 5 * 1024 * 1024))
          return answerError(response, 400, 'EntityTooSmall')
        state.objects.set(key, Buffer.concat(parts))
        state.uploads.delete(query.get('uploadId')!)
        return xml(
          response,
          `<CompleteMultipartUploadResult><Key>${key}</Key><ETag>"done"</ETag></CompleteMultipartUploadResult>`,
        )
      }
      case 'AbortMultipartUpload':
        state.uploads.delete(query.get('uploadId')!)
        return response.writeHead(204).end()
      case 'ListMultipartUploads': {
        const found = [...state.uploads].filter(([, each]) => each.key.startsWith(query.get('prefix') ?? ''))
        const rows = found.map(
          ([id, each]) => `<Upload><Key>${each.key}</Key><UploadId>${id}</UploadId></Upload>`,
        )
        return xml(response, `<ListMultipartUploadsResult>${rows.join('')}</ListMultipartUploadsResult>`)
      }
      default:
        return answerError(response, 501, 'NotImplemented')
    }
  }

  const port = await listen(server)
  return {
    ...state,
    endpoint: `http://127.0.0.1:${port}`,
    fail: (operation, status, times = 1) => void failures.set(operation, { status, times }),
    silence: (operation, how) => void silent.set(operation, how),
    until: signals.until,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function operationOf(method: string, { searchParams }: URL): string {
  const parts = searchParams.has('uploadId')
  if (method === 'POST') return parts ? 'CompleteMultipartUpload' : 'CreateMultipartUpload'
  if (method === 'PUT') return parts ? 'UploadPart' : 'PutObject'
  if (method === 'DELETE') return parts ? 'AbortMultipartUpload' : 'DeleteObject'
  return searchParams.has('uploads') ? 'ListMultipartUploads' : 'GetObject'
}

/** Path style: /bucket/key. */
function keyOf({ pathname }: URL): string {
  return decodeURIComponent(pathname.slice(`/${BUCKET}/`.length))
}

function sendObject(object: Buffer | undefined, request: IncomingMessage, response: ServerResponse): unknown {
  if (!object) return answerError(response, 404, 'NoSuchKey')
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  const part = range ? object.subarray(Number(range[1]), Number(range[2]) + 1) : object
  return response.writeHead(range ? 206 : 200, { 'content-length': part.length }).end(part)
}

function xml(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'application/xml').end(`<?xml version="1.0"?>${text}`)
}

function answerError(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`)
}

function etag(body: Buffer): string {
  return `"${createHash('md5').update(body).digest('hex')}"`
}

/** Whether the request's signature and body hash are valid. */
function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/
  const match = pattern.exec(request.headers.authorization ?? '')
  if (!match || match[1] !== CREDENTIALS.accessKeyId || match[3] !== REGION) return false
  const [, , day, region, signed, signature] = match as unknown as string[]
  const claimed = String(request.headers['x-amz-content-sha256'])
  if (claimed !== 'UNSIGNED-PAYLOAD' && claimed !== createHash('sha256').update(body).digest('hex'))
    return false
  const names = signed!.split(';')
  const canonical = [
    request.method,
    url.pathname,
    [...url.searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...names.map(
      name =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    signed,
    claimed,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, hash(canonical)].join('\n')
  const key = [day!, region!, 's3', 'aws4_request'].reduce<Buffer | string>(
    (from, word) => createHmac('sha256', from).update(word).digest(),
    `AWS4${CREDENTIALS.secretAccessKey}`,
  )
  return createHmac('sha256', key).update(text).digest('hex') === signature
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
