import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest tests, by what they do: start whole programs again and again, or follow a job for its 17 minutes. */
const SLOW = /\/test\/(?:faults|cli|deploy)\/|\/test\/infra\/embedded|\/test\/console\/bulk-long/

/** Slow files first, so that no worker runs one alone at the end: a fresh checkout has no timings yet. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId)
    return [...sorted.filter(isSlow), ...sorted.filter(file => !isSlow(file))]
  }
}
