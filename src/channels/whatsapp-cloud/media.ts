import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import type { HttpRequest } from '../http/client.ts'
import { FileUnavailable, type Outcome, type OutgoingFile } from '../provider.ts'
import { outcomeOfFile } from '../shared/outcome.ts'
import { callGraph, type Graph, type GraphError, graphRequest } from './graph.ts'
import type { MediaRef } from './message.ts'

/** The largest document that WhatsApp accepts. */
const LARGEST_FILE_BYTES = 100 * 1024 * 1024

/**
 * What a message names each file by: its public URL if it has one, else the id of an
 * upload. An outcome where a file cannot be read or uploaded; the message was not sent then.
 */
export async function prepareMedia(
  files: readonly OutgoingFile[],
  phoneNumberId: string,
  graph: Graph,
  signal: AbortSignal,
): Promise<ReadonlyMap<OutgoingFile, MediaRef> | Outcome> {
  const refs = new Map<OutgoingFile, MediaRef>()
  for (const file of files) {
    const ref =
      file.publicUrl === undefined
        ? await uploadMedia(file, phoneNumberId, graph, signal)
        : { link: file.publicUrl }
    if ('kind' in ref) return ref
    refs.set(file, ref)
  }
  return refs
}

/** Through `/{phone-number-id}/media`, whose uploads last for 30 days. */
async function uploadMedia(
  file: OutgoingFile,
  phoneNumberId: string,
  graph: Graph,
  signal: AbortSignal,
): Promise<MediaRef | Outcome> {
  try {
    const request = await formRequest(file, `${phoneNumberId}/media`, graph, signal)
    const asked = await callGraph(graph, request.http, signal)
    request.fault.check()
    if (asked.kind === 'refused') return graph.api.reportVerdict({ outcome: refusedFile(asked.error) }, true)
    if (asked.kind === 'unavailable') {
      const outcome = outcomeBeforeSubmit(asked.verdict.outcome, asked.detail)
      return graph.api.reportVerdict({ ...asked.verdict, outcome }, asked.answered)
    }
    const id = asked.body['id']
    return typeof id === 'string' ? { id } : { kind: 'retry', detail: 'WhatsApp’s answer has no upload id.' }
  } catch (error) {
    return outcomeOfFile(error)
  }
}

function refusedFile({ code: providerCode, text }: GraphError): Outcome {
  const detail = `WhatsApp does not accept the file${text === '' ? '.' : `: ${text}`}`
  return { kind: 'rejected', code: 'MESSAGE_REJECTED', detail, providerCode }
}

/** What leaves a submit in doubt leaves an upload only to be repeated: the message was not sent yet. */
function outcomeBeforeSubmit(outcome: Outcome, detail: string): Outcome {
  // How long one recipient waits is decided in pair-limit.ts, for submits.
  if (outcome.kind === 'throttled' && outcome.scope === undefined) return outcome
  return outcome.kind === 'retry' ? { ...outcome, detail } : { kind: 'retry', detail }
}

/** Derived from a secret: the author of a file cannot know it, so no file can end its own part of the form. */
function boundaryOf({ fileName }: OutgoingFile, { secrets }: Graph): string {
  return `posthorn-${createHmac('sha256', secrets.join('\n')).update(fileName).digest('hex').slice(0, 32)}`
}

async function formRequest(file: OutgoingFile, path: string, graph: Graph, signal: AbortSignal) {
  const boundary = boundaryOf(file, graph)
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const head = Buffer.from(
    `${field('messaging_product', 'whatsapp')}${field('type', file.mimetype)}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="file"; filename="${plainName(file.fileName)}"\r\n` +
      `Content-Type: ${file.mimetype}\r\n\r\n`,
  )
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`)
  const sizeBytes = await sizeOf(file, signal)
  const fault = createStreamFault()
  const http: HttpRequest = {
    ...graphRequest(graph, path),
    method: 'POST',
    headers: { ...graph.headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    body: {
      bytes: Readable.from(concatForm(head, file, tail, signal, fault)),
      lengthBytes: head.length + sizeBytes + tail.length,
    },
  }
  return { http, fault }
}

async function* concatForm(
  head: Buffer,
  file: OutgoingFile,
  tail: Buffer,
  signal: AbortSignal,
  fault: StreamFault,
): AsyncGenerator<Buffer> {
  yield head
  yield* fault.watch(file, signal)
  yield tail
}

/** A file name as browsers write it in a form (HTML, 4.10.21.8). */
function plainName(fileName: string): string {
  return fileName.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
}

/**
 * Uploads a sample for a template's header by the Resumable Upload API: first a session that announces the
 * file, then the bytes. Resolves to the handle by which the template names it.
 * Source: https://developers.facebook.com/docs/graph-api/guides/upload.
 */
export async function uploadSample(
  file: OutgoingFile,
  app: string,
  graph: Graph,
  signal: AbortSignal,
): Promise<{ handle: string } | { refused: string } | { unavailable: string }> {
  try {
    const sizeBytes = await sizeOf(file, signal)
    const session = await openSession(file, sizeBytes, app, graph, signal)
    if (!('id' in session)) return session
    const fault = createStreamFault()
    const asked = await callGraph(
      graph,
      uploadRequest(session.id, file, sizeBytes, graph, signal, fault),
      signal,
    )
    fault.check()
    return readHandle(asked, 'h', handle => ({ handle }))
  } catch (error) {
    if (error instanceof FileUnavailable && !error.retryable) return { refused: error.message }
    return { unavailable: error instanceof FileUnavailable ? error.message : 'The file could not be read.' }
  }
}

async function openSession(
  { fileName, mimetype }: OutgoingFile,
  sizeBytes: number,
  app: string,
  graph: Graph,
  signal: AbortSignal,
) {
  const query = new URLSearchParams({
    file_name: fileName,
    file_length: String(sizeBytes),
    file_type: mimetype,
  })
  const request: HttpRequest = { ...graphRequest(graph, `${app}/uploads?${query}`), method: 'POST', body: '' }
  return readHandle(await callGraph(graph, request, signal), 'id', id => ({ id }))
}

function uploadRequest(
  session: string,
  file: OutgoingFile,
  sizeBytes: number,
  graph: Graph,
  signal: AbortSignal,
  fault: StreamFault,
): HttpRequest {
  return {
    ...graphRequest(graph, session),
    method: 'POST',
    headers: {
      ...graph.headers,
      // This API uses the scheme OAuth, not Bearer.
      Authorization: graph.headers['Authorization']!.replace('Bearer', 'OAuth'),
      'Content-Type': file.mimetype,
      file_offset: '0',
    },
    body: { bytes: Readable.from(fault.watch(file, signal)), lengthBytes: sizeBytes },
  }
}

function readHandle<T>(
  asked: Awaited<ReturnType<typeof callGraph>>,
  name: string,
  make: (value: string) => T,
): T | { refused: string } | { unavailable: string } {
  if (asked.kind === 'refused') return { refused: `WhatsApp does not accept the file: ${asked.error.text}` }
  if (asked.kind === 'unavailable') return { unavailable: asked.detail }
  const value = asked.body[name]
  // The session's id becomes the path of the next request, so its form is checked.
  if (typeof value !== 'string' || !/^[\w:=+/%.?&;-]{1,2000}$/.test(value)) {
    return { unavailable: 'WhatsApp’s answer has no upload id.' }
  }
  return make(value)
}

/** In bytes. A file of unknown size is read once only to measure it: the session needs the size first. */
async function sizeOf(file: OutgoingFile, signal: AbortSignal): Promise<number> {
  if (file.sizeBytes !== undefined) return file.sizeBytes
  let sizeBytes = 0
  for await (const chunk of await file.open(signal)) {
    signal.throwIfAborted()
    sizeBytes += Buffer.byteLength(chunk)
    if (sizeBytes > LARGEST_FILE_BYTES) throw new FileUnavailable('The file is larger than 100 MiB.', false)
  }
  return sizeBytes
}

/** Keeps the error of a file's stream: the request itself only reports that it was cut. */
type StreamFault = {
  watch(file: OutgoingFile, signal: AbortSignal): AsyncGenerator<Buffer>
  /** Throws the error, if there was one. */
  check(): void
}

function createStreamFault(): StreamFault {
  let fault: unknown = null
  return {
    async *watch(file, signal) {
      try {
        for await (const chunk of await file.open(signal)) {
          yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk)
        }
      } catch (error) {
        fault = error
        throw error
      }
    },
    check() {
      if (fault !== null) throw fault
    },
  }
}
