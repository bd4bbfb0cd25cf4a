import { Type } from 'typebox'
import { SmsTemplateCreated, TemplateView } from '../../contract/template.ts'
import { TemplateCreate } from '../../contract/template-create.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'
import { TEMPLATE_FORM, withHeaderFile } from '../template-form.ts'

/** `POST /api/v2/templates`: a local template is active at once, an official one after the provider approves it. */
export const templatesCreate = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'POST',
    url: '/api/v2/templates',
    auth: { permission: 'messages:create' },
    audit: { action: 'template.create', bodyFields: ['name', 'category', 'subType', 'language', 'provider'] },
    form: TEMPLATE_FORM,
    schema: {
      summary: 'Create a template',
      description:
        'An official template is first submitted to its provider. If the provider is unavailable, the ' +
        'response is 503 and nothing is stored; the same request can be repeated.',
      tags: ['Templates'],
      body: TemplateCreate,
      response: {
        201: Type.Object({
          success: Type.Literal(true),
          data: Type.Object({ template: Type.Union([TemplateView, SmsTemplateCreated]) }),
          message: Type.String(),
        }),
      },
      errors: ['TEMPLATE_EXISTS', 'CONFLICT', 'PROVIDER_UNAVAILABLE'],
    },
    handler: async (request, reply) => {
      const { account, mode } = request.caller
      const body = withHeaderFile(request.body, request.upload)
      const template = await deps.templates.create({ accountId: account.id, mode }, body)
      reply.code(201)
      return { success: true, data: { template }, message: messageOf(template.status) }
    },
  })

/** The response's `message`, for people to read. */
export function messageOf(status: TemplateView['status']): string {
  return status === 'pending'
    ? 'The template waits for the approval of its provider.'
    : `The template is ${status}.`
}
