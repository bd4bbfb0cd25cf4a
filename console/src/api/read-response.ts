import { PosthornError, PosthornUnreachable } from '../../../sdk/index.ts'

/** The body of a response to a request that the SDK cannot make; throws the SDK's errors. */
export async function readResponse<B>(response: Response): Promise<B> {
  const { status, ok } = response
  const body = await response.json().catch(cause => {
    if (cause instanceof SyntaxError) return null
    throw cause
  })
  if (ok && body !== null) return body
  throw typeof body?.code === 'string'
    ? new PosthornError(status, body)
    : new PosthornUnreachable('The answer does not come from Posthorn.', status)
}
