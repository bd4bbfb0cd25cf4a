import { Type } from 'typebox'
import { success } from '../../contract/envelope.ts'
import { TemplateView } from '../../contract/template.ts'
import { PlatformTemplateCreate } from '../../contract/template-create.ts'
import type { Templates } from '../../core/templates/templates.ts'
import { defineRoute } from '../route.ts'

/** `POST /api/admin/templates` */
export const adminTemplatesCreate = (deps: { templates: Templates }) =>
  defineRoute({
    method: 'POST',
    url: '/api/admin/templates',
    auth: { operator: true },
    audit: {
      action: 'template.create',
      bodyFields: ['name', 'category', 'subType', 'language', 'provider', 'isDefault'],
    },
    schema: {
      summary: 'Create a template for every account',
      description: 'Every account can see it and send with it; no account can change it.',
      tags: ['Operator'],
      body: PlatformTemplateCreate,
      response: { 201: success(Type.Object({ template: TemplateView })) },
      errors: ['TEMPLATE_EXISTS', 'CONFLICT', 'PROVIDER_UNAVAILABLE'],
    },
    handler: async (request, reply) => {
      const template = await deps.templates.createPlatform(request.body)
      reply.code(201)
      return { success: true, data: { template } }
    },
  })
