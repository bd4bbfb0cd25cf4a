import { vi } from 'vitest'

/** Interval of polling, so that polling does not slow the observed program. */
const LOOK_EVERY_MS = 10

/**
 * Polls another program until `holds`. An error ends it at once. It is limited by time only, not by attempts,
 * so that a slow machine does not fail early.
 */
export async function lookUntil<T>(
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  withinMs: number,
): Promise<T> {
  let last: T | undefined
  const look = async (): Promise<boolean> => {
    last = await read()
    return holds(last)
  }
  try {
    await vi.waitUntil(look, { timeout: withinMs, interval: LOOK_EVERY_MS })
  } catch (error) {
    const told = JSON.stringify(last)?.slice(0, 2_000)
    throw new Error(`did not come to hold within ${withinMs} ms, last: ${told}`, { cause: error })
  }
  return last as T
}
