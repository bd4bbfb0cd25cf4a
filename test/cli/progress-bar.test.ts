import { expect, test } from 'vitest'
import { progressBar } from '../../src/cli/progress-bar.ts'

const TEXT = 'paused (insufficient_balance): 43 of 60, 43 sent, 0 failed'

test('a bar has thirty cells where there is room for them, or where the width is unknown', () => {
  const full = `${'█'.repeat(15)}${'░'.repeat(15)} half`
  for (const columns of [undefined, 0, 80]) expect(progressBar(0.5, 'half', columns)).toBe(full)
})

test('a bar gets shorter, and is left out, so that it never needs a second line', () => {
  expect(progressBar(0.5, TEXT, 80)).toBe(`${'█'.repeat(10)}${'░'.repeat(10)} ${TEXT}`)
  expect(progressBar(0.5, TEXT, 60)).toBe(TEXT)
  expect(progressBar(0.5, TEXT, 40)).toBe(TEXT.slice(0, 39))
  for (let columns = 1; columns <= 100; columns++)
    expect(progressBar(1, TEXT, columns).length).toBeLessThan(columns)
})
