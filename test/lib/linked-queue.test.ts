import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLinkedQueue } from '../../src/lib/linked-queue.ts'

test('holds the entries that were added and not removed, in order of addition', () => {
  const step = fc.oneof(fc.constant('enter' as const), fc.nat(20))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), steps => {
      const line = createLinkedQueue<number>()
      const leaves: (() => void)[] = []
      const model = new Set<number>()
      for (const what of steps) {
        if (what === 'enter') {
          model.add(leaves.length)
          leaves.push(line.add(leaves.length))
        } else if (what < leaves.length) {
          // An entry may be removed more than once.
          leaves[what]!()
          model.delete(what)
        }
        expect(line.all()).toEqual([...model])
      }
    }),
  )
})
