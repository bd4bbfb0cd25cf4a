import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export type Baileys = typeof import('baileys')

/** What is said where the optional package is not there. */
export const NOT_INSTALLED =
  'Web sessions need the optional package baileys on the server: npm install baileys@7.0.0-rc14'

/** Without loading it: it takes some 40 MB. */
export function isBaileysInstalled(): boolean {
  try {
    return existsSync(fileURLToPath(import.meta.resolve('baileys')))
  } catch {
    return false
  }
}

/** Loads it when the first session needs it. */
export async function loadBaileys(): Promise<Baileys> {
  keepKeysOffTheConsole()
  try {
    return await import('baileys')
  } catch (cause) {
    throw new Error(NOT_INSTALLED, { cause })
  }
}

let kept = false

/**
 * Its cryptography writes whole sessions to the console, private keys included. Nothing
 * else here writes there: of what does, only sentences pass from now on.
 */
function keepKeysOffTheConsole(): void {
  if (kept) return
  kept = true
  for (const method of ['log', 'info', 'warn', 'error'] as const) {
    const write = console[method].bind(console)
    console[method] = (...given: unknown[]) => write(...given.filter(isSentence))
  }
}

function isSentence(given: unknown): boolean {
  return typeof given !== 'object' || given === null
}
