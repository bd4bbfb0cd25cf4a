import { defineConfig } from 'vitest/config'
import { SlowestFirst } from './test/support/slowest-first.ts'

/** A build of its own, which takes two minutes: `npm run test:image`. */
const IMAGE = 'test/deploy/image.test.ts'
/** In a real browser, as long as half of the others: `npm run test:console`. */
const CONSOLE = 'test/console/**'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/bench/**',
      'node_modules/**',
      ...(process.env['TEST_IMAGE'] ? [] : [IMAGE]),
      ...(process.env['TEST_CONSOLE'] ? [] : [CONSOLE]),
    ],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // With the default, the young generation is collected so often that it takes 4 % longer.
    execArgv: ['--max-semi-space-size=32'],
    // To load the program anew for each file took half of the time. What a file leaves in its process is its fault.
    isolate: false,
    // One more than two processors keep busy: while leases and time-outs are waited for, others work.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})
