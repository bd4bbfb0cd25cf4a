import type { ConnectionState } from '../../../../sdk/index.ts'
import type { Tone } from '../../parts/status-badge.tsx'

export const LINK_WORDS: Readonly<Record<ConnectionState['link'], string>> = {
  up: 'Up',
  down: 'Down',
  connecting: 'Connecting',
  closed: 'At rest',
}

/** An open circuit is one that lets nothing through: the badge's own words would say the contrary. */
export const CIRCUIT_TONES: Readonly<Record<ConnectionState['circuit'], Tone>> = {
  closed: 'good',
  open: 'bad',
  half_open: 'warn',
}
export const CIRCUIT_WORDS: Readonly<Record<ConnectionState['circuit'], string>> = {
  closed: 'Works',
  open: 'Offered last',
  half_open: 'On trial',
}
