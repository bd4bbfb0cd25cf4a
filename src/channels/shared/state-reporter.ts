import type { Io, LinkState } from '../provider.ts'

/**
 * Reports the link's state only when it changes, not with every message. `whenDown` is logged
 * when the link goes down.
 */
export function createStateReporter(
  io: Pick<Io, 'log' | 'report'>,
  whenDown: string,
): (state: LinkState) => void {
  let last = ''
  return state => {
    if (state.state === last) return
    last = state.state
    if (state.state === 'down') io.log.warn({ detail: state.detail }, whenDown)
    io.report(state)
  }
}
