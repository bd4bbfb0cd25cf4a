import { vi } from 'vitest'

/** Interval of polling, long enough that polling does not slow the observed program. */
const LOOK_EVERY_MS = 10

/**
 * Polls another program until `holds`, for at most `withinMs`; throws at the first error. Attempts are not
 * limited, so that it does not fail early on a slow machine.
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
