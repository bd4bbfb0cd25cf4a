import { page } from '../../contract/envelope.ts'
import { BlockQuery, BlockView } from '../../contract/fraud.ts'
import type { Blocks } from '../../core/fraud/blocks.ts'
import { defineRoute } from '../route.ts'

/** `GET /api/v2/verification/blocks` */
export const verificationBlocksList = (deps: { verificationBlocks: Blocks }) =>
  defineRoute({
    method: 'GET',
    url: '/api/v2/verification/blocks',
    auth: {},
    schema: {
      summary: 'List blocked verifications',
      description:
        'What the fraud guard refused, and what it would have refused where a rule only watches; the newest first. ' +
        'Kept for 90 days.',
      tags: ['Verification'],
      querystring: BlockQuery,
      response: { 200: page(BlockView) },
    },
    handler: request => deps.verificationBlocks.list(request.caller, request.query),
  })
