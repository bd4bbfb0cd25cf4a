import { oneLine } from '../lib/one-line.ts'

const MOST_CELLS = 30
/** A shorter bar shows nothing. */
const LEAST_CELLS = 5

/** A bar for `share` (0 to 1), as long as there is room beside the text, then the text. */
export function progressBar(share: number, text: string, columns: number | undefined): string {
  const room = columns ? columns - 2 - text.length : MOST_CELLS
  if (room < LEAST_CELLS) return oneLine(text, columns)
  const cells = Math.min(room, MOST_CELLS)
  const full = Math.round(share * cells)
  return `${'█'.repeat(full)}${'░'.repeat(cells - full)} ${text}`
}
