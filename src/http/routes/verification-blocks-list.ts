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
        'The sends that the fraud guard refused, and those that it would have refused if the rule were ' +
        'not in monitor mode, newest first. Stored for 90 days.',
      tags: ['Verification'],
      querystring: BlockQuery,
      response: { 200: page(BlockView) },
    },
    handler: request => deps.verificationBlocks.list(request.caller, request.query),
  })
