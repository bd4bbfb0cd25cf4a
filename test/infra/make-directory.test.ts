import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeDirectory } from '../../src/infra/make-directory.ts'

describe('makeDirectory', () => {
  let parent: string

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'posthorn-directory-'))
  })

  afterEach(() => {
    rmSync(parent, { recursive: true })
  })

  it('makes what is missing on the way, closed to others, and takes what is there', () => {
    const directory = join(parent, 'a', 'b', 'c')
    makeDirectory(directory, 0o700)
    makeDirectory(directory, 0o700)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(join(parent, 'a')).mode & 0o777).toBe(0o700)
  })

  it('refuses a way through a file', () => {
    writeFileSync(join(parent, 'file'), '')
    expect(() => makeDirectory(join(parent, 'file', 'a', 'b'), 0o700)).toThrow(/ENOTDIR/)
    expect(() => makeDirectory(join(parent, 'file'), 0o700)).toThrow(/EEXIST/)
  })

  it.runIf(process.platform === 'linux')('ends where a directory that is there says ENOENT', () => {
    expect(() => makeDirectory('/proc/posthorn/data', 0o700)).toThrow(/ENOENT/)
  })
})
