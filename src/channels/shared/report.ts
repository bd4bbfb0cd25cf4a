import type { Io, LinkState } from '../provider.ts'

/**
 * Passes on what changed, and only that: a link is not news with every message. `whenDown` is what
 * the log says of one that went down.
 */
export function createReport(io: Pick<Io, 'log' | 'report'>, whenDown: string): (state: LinkState) => void {
  let last = ''
  return state => {
    if (state.state === last) return
    last = state.state
    if (state.state === 'down') io.log.warn({ detail: state.detail }, whenDown)
    io.report(state)
  }
}
