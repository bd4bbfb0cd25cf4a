/**
 * Collects all garbage, and gives its memory back to the operating system. Without this, the young generation
 * keeps the size that it grew to during the start. Takes some 50 ms. Needs Node's flag `--expose-gc`, which
 * `npm start` has, and does nothing without it.
 */
export function giveBackMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
