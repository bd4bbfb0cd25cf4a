/**
 * The codes of one key that passed the guard and may still be refused. At first such a code is counted in `fresh` on this node
 * alone: another node must not hold a range because of a code that is refused in the end. But a person may confirm a code
 * before its provider has responded. Since no count is negative, a confirmation lowers only what was counted before it, so with
 * each confirmation an undecided code is shared with the other nodes early.
 *
 *   (passed) --countCode--> undecided --shareCodeEarly--> sharedEarly
 *
 *   decideCode   of an undecided code       of one that was shared early   of one that was evicted
 *   sent         the others count it too    -                              all nodes count it
 *   refused      this node uncounts it      all nodes uncount it           -
 */
export type UndecidedCodes = { undecided: number; sharedEarly: number }

/** What becomes of `fresh`: on this node, and on the others. */
export type FreshChange = Readonly<{ here: -1 | 0 | 1; others: -1 | 0 | 1 }>

const NONE: FreshChange = { here: 0, others: 0 }
const COUNT_HERE: FreshChange = { here: 1, others: 0 }
const SHARE: FreshChange = { here: 0, others: 1 }
const COUNT_EVERYWHERE: FreshChange = { here: 1, others: 1 }
const UNCOUNT_HERE: FreshChange = { here: -1, others: 0 }
const UNCOUNT_EVERYWHERE: FreshChange = { here: -1, others: -1 }

/** A code passed. */
export function countCode(codes: UndecidedCodes): FreshChange {
  codes.undecided += 1
  return COUNT_HERE
}

/** A code was confirmed, maybe one that is not decided yet. */
export function shareCodeEarly(codes: UndecidedCodes): FreshChange {
  if (codes.undecided === 0) return NONE
  codes.undecided -= 1
  codes.sharedEarly += 1
  return SHARE
}

/**
 * A code was sent or refused. Which one is not known: a sent code is taken from those that were shared early, and a refused one
 * from the others, as long as there are such.
 */
export function decideCode(codes: UndecidedCodes, isSent: boolean): FreshChange {
  if (isSent && codes.sharedEarly > 0) {
    codes.sharedEarly -= 1
    return NONE
  }
  if (codes.undecided > 0) {
    codes.undecided -= 1
    return isSent ? SHARE : UNCOUNT_HERE
  }
  if (codes.sharedEarly > 0) {
    codes.sharedEarly -= 1
    return UNCOUNT_EVERYWHERE
  }
  return isSent ? COUNT_EVERYWHERE : NONE
}
