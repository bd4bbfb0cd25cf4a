import { defineConfig } from 'vitest/config'
import { SlowestFirst } from './test/support/slowest-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/**', 'node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Most files start real peers and a database of their own; more would only wait for each other.
    maxWorkers: 2,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
