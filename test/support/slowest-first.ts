import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * The slowest tests, by what they start: browsers, and whole programs that are killed and restarted. The
 * first need the processor, and the second wait for leases and time-outs, so they alternate.
 */
const SLOW = [/\/test\/console\//, /\/test\/(?:faults|cli|deploy)\/|\/test\/infra\/embedded/]

/** Slow files first, so that no worker runs one alone at the end: a fresh checkout has no timings yet. */
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
