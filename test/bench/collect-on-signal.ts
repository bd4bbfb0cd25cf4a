/**
 * Preloaded when the program's memory is measured: SIGUSR2 runs a full garbage collection, which V8 delays
 * while there is room:
 *
 *     node --expose-gc --import ./test/bench/collect-on-signal.ts bin/posthorn.js serve
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
})
