import Type from 'typebox'
import { defineRoute } from '../route.ts'

/** `GET /metrics`: the metrics, in the format of Prometheus. */
export const metricsRead = (deps: {
  metrics: { render(): Promise<{ contentType: string; body: string }> }
}) =>
  defineRoute({
    method: 'GET',
    url: '/metrics',
    auth: { public: true },
    schema: {
      summary: 'Read the metrics of this node',
      tags: ['Operations'],
      response: {
        200: Type.String({ contentMediaType: 'text/plain', description: 'Prometheus text exposition.' }),
      },
    },
    async handler(_request, reply) {
      const { contentType, body } = await deps.metrics.render()
      reply.header('Content-Type', contentType)
      return body
    },
  })
