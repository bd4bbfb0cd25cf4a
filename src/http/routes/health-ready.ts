import Type from 'typebox'
import { Problem } from '../../contract/errors.ts'
import type { Readiness } from '../readiness.ts'
import { defineRoute } from '../route.ts'

/** `GET /readyz`: whether this node can serve requests; 503 with the reason if not. */
export const healthReady = (deps: { readiness: Readiness }) =>
  defineRoute({
    method: 'GET',
    url: '/readyz',
    auth: { public: true },
    schema: {
      summary: 'Check whether the service accepts requests',
      tags: ['Operations'],
      response: { 200: Type.Object({ status: Type.Literal('ready') }) },
      errors: ['SERVICE_UNAVAILABLE'],
    },
    async handler() {
      const obstacle = await deps.readiness.notReadyReason()
      if (obstacle !== null) throw new Problem('SERVICE_UNAVAILABLE', obstacle)
      return { status: 'ready' }
    },
  })
