import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { existsProcess } from '../../src/infra/exists-process.ts'
import { DAY_MS } from '../../src/lib/durations.ts'

const NAMED = /^\.console-(\w+)-(\d+)-/
const ANY = /^\.console-/

/** How the name of a directory begins in which a process of this machine builds. */
export function nameAside(pid: number, host: string): string {
  return `.console-${hostWord(host)}-${pid}-`
}

function hostWord(host: string): string {
  return host.replaceAll(/\W/g, '_')
}

/**
 * Removes what builds in `parent` have left that were killed: directories of processes of this machine that do not run
 * any more. Of another machine, or a container that shares the directory, processes cannot be looked up: there it is
 * those that are older than a day. Never throws: what cannot be removed does not stop a build.
 */
export function removeLeftovers(parent: string, { host, nowMs }: { host: string; nowMs: number }): void {
  for (const name of readdirSync(parent)) {
    if (!ANY.test(name)) continue
    try {
      if (isLeftover(join(parent, name), name, hostWord(host), nowMs)) {
        rmSync(join(parent, name), { recursive: true, force: true })
      }
    } catch {
      // Another build removes it at the same time, or another user made it.
    }
  }
}

function isLeftover(path: string, name: string, host: string, nowMs: number): boolean {
  const [, of, pid] = NAMED.exec(name) ?? []
  if (of === host) return Number(pid) !== process.pid && !existsProcess(Number(pid))
  return nowMs - statSync(path).mtimeMs > DAY_MS
}
