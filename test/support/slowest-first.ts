import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest, by what it starts: browsers, and whole programs that are killed and started
 * again. The first need the processor and the second wait for leases and time-outs, so they
 * begin in turns.
 */
const SLOW = [/\/test\/console\//, /\/test\/(?:faults|cli|deploy)\/|\/test\/infra\/embedded/]

/** Slow files first, so that no worker is left with one when the other has done: on a fresh checkout nobody knows yet how long each takes. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const [browsers, programs] = SLOW.map(kind => sorted.filter(({ moduleId }) => kind.test(moduleId)))
    const rest = sorted.filter(file => !browsers!.includes(file) && !programs!.includes(file))
    return [...inTurns(browsers!, programs!), ...rest]
  }
}

function inTurns<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length)
  return Array.from({ length }, (_, at) => [one[at], other[at]])
    .flat()
    .filter(item => item !== undefined)
}
