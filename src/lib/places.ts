/** Places for work that runs at the same time: so many in all, and per owner, so that one does not shut out the others. */
export type Places = {
  /** Takes a place, and returns what gives it back, to be called once; null if none is left. */
  take(owner: string): (() => void) | null
}

export function createPlaces({ total, perOwner }: { total: number; perOwner: number }): Places {
  const byOwner = new Map<string, number>()
  let all = 0

  function giveBack(owner: string): void {
    const left = byOwner.get(owner)! - 1
    if (left === 0) byOwner.delete(owner)
    else byOwner.set(owner, left)
    all--
  }

  return {
    take(owner) {
      const own = byOwner.get(owner) ?? 0
      if (all >= total || own >= perOwner) return null
      byOwner.set(owner, own + 1)
      all++
      return () => giveBack(owner)
    },
  }
}
