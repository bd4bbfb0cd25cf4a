import Type from 'typebox'
import { defineRoute } from '../route.ts'

/** `GET /healthz`: the process is running. Does not check dependencies, whose outage a restart would not mend. */
export const healthLive = () =>
  defineRoute({
    method: 'GET',
    url: '/healthz',
    auth: { public: true },
    schema: {
      summary: 'Check that the process is alive',
      tags: ['Operations'],
      response: { 200: Type.Object({ status: Type.Literal('ok') }) },
    },
    handler: () => ({ status: 'ok' }),
  })
