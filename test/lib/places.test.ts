import { expect, test } from 'vitest'
import { createPlaces } from '../../src/lib/places.ts'

test('are so many per owner and in all, and are free again when they are given back', () => {
  const places = createPlaces({ total: 3, perOwner: 2 })
  const [first, second] = [places.take('a'), places.take('a')]
  expect(places.take('a')).toBeNull()
  expect(places.take('b')).not.toBeNull()
  expect(places.take('c')).toBeNull()
  first!()
  expect(places.take('c')).not.toBeNull()
  expect(places.take('a')).toBeNull()
  second!()
  expect(places.take('a')).not.toBeNull()
})
