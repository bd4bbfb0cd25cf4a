import { expect, test } from 'vitest'
import { countCode, decideCode, shareCodeEarly } from '../../../src/core/fraud/undecided-codes.ts'

const step = { count: countCode, share: shareCodeEarly } as const
const decisions = { sent: true, refused: false } as const
type Step = keyof typeof step | keyof typeof decisions

/** What each step changes in `fresh` here and on the other nodes, and what all change together. */
function changesOf(...steps: Step[]) {
  const codes = { undecided: 0, sharedEarly: 0 }
  const changes = steps.map(each =>
    each === 'sent' || each === 'refused' ? decideCode(codes, decisions[each]) : step[each](codes),
  )
  const sum = (where: 'here' | 'others') => changes.reduce((all, change) => all + change[where], 0)
  return { sums: [sum('here'), sum('others')], codes }
}

test.each<[counts: number, steps: Step[]]>([
  [1, ['count', 'sent']],
  [0, ['count', 'refused']],
  [1, ['count', 'share', 'sent']],
  [0, ['count', 'share', 'refused']],
  [2, ['count', 'count', 'share', 'sent', 'sent']],
  [1, ['count', 'count', 'share', 'refused', 'sent']],
  [0, ['count', 'count', 'share', 'refused', 'refused']],
  // The entry in which it was counted was evicted.
  [1, ['sent']],
  [0, ['refused']],
  [0, ['share']],
])('once all are decided, every node counts the %i that were sent: %j', (count, steps) => {
  expect(changesOf(...steps)).toEqual({ sums: [count, count], codes: { undecided: 0, sharedEarly: 0 } })
})

test('before it is decided, a code counts on its own node alone, unless it was shared early', () => {
  expect(changesOf('count')).toEqual({ sums: [1, 0], codes: { undecided: 1, sharedEarly: 0 } })
  expect(changesOf('count', 'share')).toEqual({ sums: [1, 1], codes: { undecided: 0, sharedEarly: 1 } })
})
