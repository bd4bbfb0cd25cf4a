import { vi } from 'vitest'

/** Between two looks, so that a program is not kept from what it is waited for by those who wait. */
const LOOK_EVERY_MS = 10

/**
 * Reads what another program tells until it holds. A reading that throws ends it at once; it
 * is bounded by time alone, so that a slow machine is no failure before the time is over.
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
