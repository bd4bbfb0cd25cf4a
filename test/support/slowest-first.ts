import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest tests, by what they start: whole programs that are killed and restarted. */
const SLOW = /\/test\/(?:faults|cli|deploy)\/|\/test\/infra\/embedded/

/** Slow files first, so that no worker runs one alone at the end: a fresh checkout has no timings yet. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId)
    return [...sorted.filter(isSlow), ...sorted.filter(file => !isSlow(file))]
  }
}
