import { fromMicros, MAX_MICROS, toMicros } from '../lib/money.ts'
import type { Faults } from './faults.ts'

/**
 * Converts an amount of the API to micros; adds a fault and returns 0 if it is less than `leastMicros` or
 * more than `mostMicros`, or not a valid amount.
 */
export function readAmount(
  units: number,
  path: string,
  leastMicros: 0 | 1,
  faults: Faults,
  mostMicros = MAX_MICROS,
): number {
  const micros = toMicros(units)
  if (micros !== null && micros >= leastMicros && micros <= mostMicros) return micros
  if (units < 0 || (units === 0 && leastMicros === 1)) {
    faults.add(path, leastMicros === 1 ? 'must be greater than 0' : 'must not be negative')
  } else {
    faults.add(path, `must have at most six decimals and be at most ${fromMicros(mostMicros)}`)
  }
  return 0
}
