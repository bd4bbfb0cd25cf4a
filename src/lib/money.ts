/** Amounts are integers of millionths of a currency unit ("micros"); in the API they are JSON numbers of units. */
const MICROS_PER_UNIT = 1_000_000

/**
 * Beyond 2^33 units, neighbouring doubles are more than one micro apart, so that two amounts would be the
 * same JSON number.
 */
export const MAX_MICROS = 2 ** 33 * MICROS_PER_UNIT

/**
 * Units to micros; null if the amount is not finite, is beyond `MAX_MICROS`, or has more than six decimals.
 * Rounding errors of the caller's arithmetic (3 × 0.0079 is 0.023700000000000002) do not count as decimals.
 */
export function toMicros(units: number): number | null {
  // Adding 0 turns -0 into 0.
  const near = Math.round(units * MICROS_PER_UNIT) + 0
  if (spells(near, units)) return near
  // Above 2^32 units the product may be off by half a micro, which is rounded up.
  if (spells(near - 1, units)) return near - 1
  return isNoise(near, units) ? near : null
}

/** Micros to units; `toMicros` gives back the same micros. */
export function fromMicros(micros: number): number {
  return micros / MICROS_PER_UNIT
}

/**
 * Whether `micros` is exactly `units`: the quotient is the double nearest to the decimal, so it is equal only
 * without a seventh decimal.
 */
function spells(micros: number, units: number): boolean {
  return Math.abs(micros) <= MAX_MICROS && micros / MICROS_PER_UNIT === units
}

/**
 * Whether the difference is a rounding error: far below a seventh decimal, and within what a thousand
 * additions of doubles may be off by.
 */
function isNoise(micros: number, units: number): boolean {
  const off = Math.abs(micros / MICROS_PER_UNIT - units)
  return Math.abs(micros) <= MAX_MICROS && off <= Math.min(1e-9, 1e-12 * Math.abs(units))
}
