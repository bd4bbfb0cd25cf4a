/** Numbers that look random and are the same for the same seed (mulberry32). */
export type Dice = {
  /** 0 to `sides - 1`. */
  roll(sides: number): number
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0
  return {
    roll(sides) {
      state = (state + 0x6d2b79f5) >>> 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
    },
  }
}
