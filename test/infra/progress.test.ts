import { describe, expect, it } from 'vitest'
import { createProgress } from '../../src/infra/progress.ts'
import { createFakeClock } from '../support/fake-clock.ts'

function capture(isTTY: boolean, columns?: number) {
  const clock = createFakeClock()
  const written: string[] = []
  const progress = createProgress(
    { isTTY, ...(columns && { columns }), write: text => void written.push(text) },
    clock,
  )
  return { clock, progress, written: () => written.join('') }
}

describe('the progress without a terminal', () => {
  it('announces a slow step, prints its notes, and prints how long it took', async () => {
    const { clock, progress, written } = capture(false)
    const work = Promise.withResolvers<void>()
    const step = progress.step('Migrating', async note => {
      note('0001_first.sql')
      await work.promise
    })
    await clock.advance(600)
    work.resolve()
    await step
    expect(written()).toBe('Migrating: 0001_first.sql\nMigrating …\nMigrating (0.6 s)\n')
    expect(clock.pending()).toBe(0)
  })

  it('prints a repeated note once', async () => {
    const { progress, written } = capture(false)
    await progress.step('Starting', async note => {
      for (const text of ['replaying', 'replaying', 'checking', 'replaying']) note(text)
    })
    expect(written()).toBe('Starting: replaying\nStarting: checking\nStarting: replaying\n')
  })

  it('prints nothing for a step that ends at once', async () => {
    const { progress, written } = capture(false)
    expect(await progress.step('Starting', async () => 42)).toBe(42)
    expect(written()).toBe('')
  })

  it('prints that a step failed, and rethrows its error', async () => {
    const { clock, progress, written } = capture(false)
    await expect(progress.step('Starting', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(written()).toBe('Starting failed (0.0 s)\n')
    expect(clock.pending()).toBe(0)
  })
})

describe('the progress at a terminal', () => {
  it('shows a spinner on one line and replaces it with the result', async () => {
    const { clock, progress, written } = capture(true)
    const work = Promise.withResolvers<void>()
    const step = progress.step('Starting', () => work.promise)
    await clock.advance(200)
    expect(written()).toBe('\r\u001b[K⠋ Starting\r\u001b[K⠙ Starting')
    work.resolve()
    await step
    expect(written().endsWith('\r\u001b[K✓ Starting (0.2 s)\n')).toBe(true)
    expect(clock.pending()).toBe(0)
  })

  it('keeps to one line where the terminal is narrow: each frame would leave a line otherwise', async () => {
    const { clock, progress, written } = capture(true, 20)
    const work = Promise.withResolvers<void>()
    const step = progress.step('Migrating', note => {
      note('waiting for another node')
      return work.promise
    })
    await clock.advance(100)
    expect(written()).toBe('\r\u001b[K⠋ Migrating: waitin')
    work.resolve()
    await step
  })
})
