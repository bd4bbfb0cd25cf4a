/**
 * Money is counted in millionths of a currency unit ("micros") as integers, and
 * written on the wire as a JSON number of units.
 */
const MICROS_PER_UNIT = 1_000_000

/**
 * Beyond 2^33 units the doubles stand further apart than one micro, so that
 * two amounts would share one spelling on the wire.
 */
export const MAX_MICROS = 2 ** 33 * MICROS_PER_UNIT

/**
 * Units to micros, or `null` where the amount is not finite, is beyond
 * `MAX_MICROS`, or has more than six decimals. What a caller's own arithmetic
 * leaves behind them (three times 0.0079 is 0.023700000000000002) is none.
 */
export function toMicros(units: number): number | null {
  // Above 2^31 units the product itself may be off by one. Adding 0 turns -0 into 0.
  const near = Math.round(units * MICROS_PER_UNIT) + 0
  if (spells(near, units)) return near
  if (spells(near - 1, units)) return near - 1
  if (spells(near + 1, units)) return near + 1
  return isNoise(near, units) ? near : null
}

/** Micros to units; `toMicros` gives back the same micros. */
export function fromMicros(micros: number): number {
  return micros / MICROS_PER_UNIT
}

/** The quotient is the double nearest to the decimal: equal only if no seventh digit was given. */
function spells(micros: number, units: number): boolean {
  return Math.abs(micros) <= MAX_MICROS && micros / MICROS_PER_UNIT === units
}

/** Far below a seventh digit, and below what a thousand additions of doubles may be off by. */
function isNoise(micros: number, units: number): boolean {
  const off = Math.abs(micros / MICROS_PER_UNIT - units)
  return Math.abs(micros) <= MAX_MICROS && off <= Math.min(1e-9, 1e-12 * Math.abs(units))
}
