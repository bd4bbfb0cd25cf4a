import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { invalid, Problem, unsupported } from '../contract/errors.ts'
import { PLATFORM } from '../core/accounts/platform.ts'
import { NoSpace } from '../core/media/intake.ts'
import type { Media } from '../core/media/media.ts'
import { toProblem } from './errors.ts'
import { toBody } from './form-body.ts'
import { refuseCompressed, UnreadableBody } from './json-body.ts'
import { type FileSink, type Form, readForm } from './multipart.ts'
import type { FormSpec, Route, Upload } from './route.ts'

export type FormMedia = Pick<Media, 'store' | 'discard'>

/** The largest file plus the text fields. */
const FORM_LIMIT_BYTES = 102 * 1024 * 1024

declare module 'fastify' {
  interface FastifyContextConfig {
    form?: FormSpec
    /** The schema by which the text fields are parsed. */
    formSchema?: TObject
  }
}

/**
 * Accepts forms in addition to the scope's other bodies. A form with an error counts as a body that was read: its
 * connection stays open, and the error response can be stored.
 */
export function acceptForms(scope: FastifyInstance, media: FormMedia): void {
  scope.addContentTypeParser('multipart/form-data', async (request: FastifyRequest) => {
    const { form, formSchema } = request.routeOptions.config
    if (!form) throw new Problem('UNSUPPORTED_MEDIA_TYPE')
    const fields = new Map<string, string>()
    try {
      refuseCompressed(request.headers)
      const limits = { fileFields: form.files, mostBytes: FORM_LIMIT_BYTES }
      const read = await readForm(request.raw, limits, sinkOf(request, media))
      for (const [name, value] of read.fields) fields.set(name, value)
      request.upload = uploadOf(read)
      return bodyOf(read.fields, form, formSchema)
    } catch (error) {
      return unreadable(error, fields)
    }
  })
}

function bodyOf(fields: ReadonlyMap<string, string>, form: FormSpec, schema: TObject | undefined): unknown {
  if (form.toBody) return form.toBody(fields)
  return schema && toBody(fields, schema)
}

/** The caller is known, since keys are checked before a body is read. The operator's files belong to the platform. */
function sinkOf(request: FastifyRequest, media: FormMedia): FileSink<Received> {
  const owner = request.caller?.account.id ?? PLATFORM
  return {
    async store({ field, fileName, mimetype, bytes }) {
      try {
        const asset = await media.store(owner, { path: field, fileName, declared: mimetype, bytes })
        return { asset, refusal: null }
      } catch (error) {
        if (error instanceof NoSpace) return { asset: error.asset, refusal: error }
        throw error
      }
    },
    discard: ({ asset }) => media.discard(asset),
  }
}

type Received = Omit<Upload, 'field'>

function uploadOf({ file }: Form<Received>): Upload | null {
  return file && { field: file.field, ...file.stored }
}

/** Two different forms with the same error under one idempotency key need not be distinguished. */
function unreadable(error: unknown, fields: ReadonlyMap<string, string>): UnreadableBody {
  const problem = toProblem(error)
  if (problem.status >= 500) throw error
  const said = JSON.stringify([[...fields], problem.details ?? problem.message])
  return new UnreadableBody(problem, Buffer.from(said))
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Wraps the handler of a route with forms, so that the file is discarded if nothing uses it. */
export function withForm(form: FormSpec, route: Route, handler: Handler, media: FormMedia): Handler {
  function answer(request: FastifyRequest, reply: FastifyReply): unknown {
    if (request.validationError && route.faults !== 'handed over') throw request.validationError
    if (request.upload?.refusal && route.faults !== 'handed over') throw request.upload.refusal
    if (form.isFormRequired) requireForm(request, form)
    return handler(request, reply)
  }

  async function answerAndDiscard(request: FastifyRequest, reply: FastifyReply, { asset }: Upload) {
    let kept = false
    try {
      const body = await answer(request, reply)
      kept = form.keepsFile === true
      return body
    } finally {
      if (!kept) await media.discard(asset)
    }
  }

  return (request, reply) =>
    request.upload ? answerAndDiscard(request, reply, request.upload) : answer(request, reply)
}

function requireForm(request: FastifyRequest, form: FormSpec): void {
  if (request.body instanceof UnreadableBody) throw request.body.problem
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) {
    throw unsupported('Content-Type', 'must be multipart/form-data')
  }
  if (!request.upload) throw invalid(form.files[0]!, 'is required')
}
