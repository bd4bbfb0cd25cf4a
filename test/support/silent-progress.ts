import type { Progress } from '../../src/infra/progress.ts'

/** Shows nothing. */
export const silentProgress: Progress = { step: (_label, work) => work(() => {}), line: () => {} }
