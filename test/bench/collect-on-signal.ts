/**
 * Loaded beside the program when its memory is measured: on SIGUSR2 it collects
 * all garbage, which V8 by itself leaves lying for as long as there is room.
 *
 *     node --expose-gc --import ./test/bench/collect-on-signal.ts bin/posthorn.js serve
 */
process.on('SIGUSR2', () => {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
})
