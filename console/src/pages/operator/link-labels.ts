import type { ConnectionState } from '../../../../sdk/index.ts'
import type { Tone } from '../../parts/status-badge.tsx'

export const LINK_LABELS: Readonly<Record<ConnectionState['link'], string>> = {
  up: 'Up',
  down: 'Down',
  connecting: 'Connecting',
  closed: 'Idle',
}

/** An open circuit is a failing connection: the default tone and text of "open" would say the opposite. */
export const CIRCUIT_TONES: Readonly<Record<ConnectionState['circuit'], Tone>> = {
  closed: 'good',
  open: 'bad',
  half_open: 'warn',
}
export const CIRCUIT_LABELS: Readonly<Record<ConnectionState['circuit'], string>> = {
  closed: 'Working',
  open: 'Used last',
  half_open: 'Testing',
}
