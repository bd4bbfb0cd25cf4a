import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Log } from '../../lib/log.ts'
import { guardDownloads } from './guard-downloads.ts'

export type Baileys = typeof import('baileys')

/** The error where the optional package is not installed. */
export const NOT_INSTALLED =
  'Web sessions need the optional package baileys on the server: npm install baileys@7.0.0-rc14'

/** Does not load it: that takes some 40 MB. */
export function isBaileysInstalled(): boolean {
  try {
    return existsSync(fileURLToPath(import.meta.resolve('baileys')))
  } catch {
    return false
  }
}

/** Loads it when the first session needs it. */
export async function loadBaileys(log: Log): Promise<Baileys> {
  prepare(log)
  try {
    return await import('baileys')
  } catch (cause) {
    throw new Error(NOT_INSTALLED, { cause })
  }
}

let prepared = false

function prepare(log: Log): void {
  if (prepared) return
  prepared = true
  redirectConsole(log)
  globalThis.fetch = guardDownloads(globalThis.fetch, ({ hostname }) => hostname.endsWith('.whatsapp.net'))
}

/**
 * The library's cryptography prints whole sessions, private keys included, to the console. Nothing
 * else in this process uses the console: from now on, console calls go to our log, with their text only.
 */
function redirectConsole(log: Log): void {
  for (const method of ['log', 'info', 'warn', 'error'] as const) {
    console[method] = (sentence: unknown) => {
      if (typeof sentence === 'string') log.debug({ from: 'libsignal' }, sentence)
    }
  }
}
