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

  it('creates missing parents with the given mode, and accepts a directory that exists', () => {
    const directory = join(parent, 'a', 'b', 'c')
    makeDirectory(directory, 0o700)
    makeDirectory(directory, 0o700)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect(statSync(join(parent, 'a')).mode & 0o777).toBe(0o700)
  })

  it('rejects a path through a file', () => {
    writeFileSync(join(parent, 'file'), '')
    expect(() => makeDirectory(join(parent, 'file', 'a', 'b'), 0o700)).toThrow(/ENOTDIR/)
    expect(() => makeDirectory(join(parent, 'file'), 0o700)).toThrow(/EEXIST/)
  })

  it.runIf(process.platform === 'linux')(
    'fails instead of looping when an existing parent returns ENOENT',
    () => {
      expect(() => makeDirectory('/proc/posthorn/data', 0o700)).toThrow(/ENOENT/)
    },
  )
})
