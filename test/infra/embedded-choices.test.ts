import { spawnSync } from 'node:child_process'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyBinaries, findBinaries } from '../../src/infra/embedded/binaries.ts'
import { writeSettings } from '../../src/infra/embedded/cluster.ts'
import { chooseIdentity, type Probe, runAs, type Trial } from '../../src/infra/embedded/identity.ts'
import { exitReason, rotateLog, trimLog } from '../../src/infra/embedded/postmaster.ts'
import { claimSocketDir } from '../../src/infra/embedded/socket-dir.ts'

let parent: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'posthorn-choices-'))
})

afterEach(() => rmSync(parent, { recursive: true }))

describe('the identity that PostgreSQL runs under', () => {
  const postgres = { uid: 101, gid: 104 }
  const nobody = { uid: 65534, gid: 65534 }

  /** A machine with the given trial results, by `self`, `userns` or uid. */
  function machine(uid: number, trials: Record<string, Trial>): Probe {
    return {
      uid,
      users: () => [postgres, nobody],
      try: identity => trials[identity.kind === 'user' ? identity.uid : identity.kind] ?? 'forbidden',
    }
  }

  it.each<[string, Probe, unknown]>([
    [
      'that of Posthorn when it is not root',
      machine(1000, { self: 'works' }),
      { identity: { kind: 'self' }, copyBinaries: false },
    ],
    [
      'that of Posthorn in a user namespace when it is root',
      machine(0, { userns: 'works', 101: 'works' }),
      { identity: { kind: 'userns' }, copyBinaries: false },
    ],
    [
      'the first user who can run it when user namespaces are forbidden',
      machine(0, { userns: 'forbidden', 101: 'data-unreachable', 65534: 'works' }),
      { identity: { kind: 'user', ...nobody }, copyBinaries: false },
    ],
    [
      'a user who needs no copy of the binaries before one who does',
      machine(0, { 101: 'binaries-unreachable', 65534: 'works' }),
      { identity: { kind: 'user', ...nobody }, copyBinaries: false },
    ],
    [
      'a user who needs a copy of the binaries when no other user can run it',
      machine(0, { 101: 'binaries-unreachable', 65534: 'data-unreachable' }),
      { identity: { kind: 'user', ...postgres }, copyBinaries: true },
    ],
  ])('is %s', (_who, probe, choice) => {
    expect(chooseIdentity(probe, '/srv/data', '/srv/pg')).toEqual(choice)
  })

  it.each<[string, Probe, RegExp]>([
    [
      'no user can enter the data directory',
      machine(0, { 101: 'data-unreachable', 65534: 'data-unreachable' }),
      /set POSTHORN_DATA_DIR/,
    ],
    ['root may not switch to another user', machine(0, {}), /user namespaces are forbidden here/],
    ['the binaries do not run here', machine(1000, { self: 'binaries-unreachable' }), /needs glibc/],
    [
      'the data directory cannot be entered',
      machine(1000, { self: 'data-unreachable' }),
      /is not accessible/,
    ],
  ])('is refused with a one-line message when %s', (_where, probe, message) => {
    expect(() => chooseIdentity(probe, '/srv/data', '/srv/pg')).toThrow(message)
    expect(() => chooseIdentity(probe, '/srv/data', '/srv/pg')).toThrow(/^[^\n]+$/)
  })

  it('tries an unprivileged user only on the parent of the data directory, which Posthorn itself opens', () => {
    const asked: string[] = []
    const probe: Probe = {
      uid: 0,
      users: () => [nobody],
      try: (identity, directory) => {
        asked.push(`${identity.kind} ${directory}`)
        return identity.kind === 'user' ? 'works' : 'forbidden'
      },
    }
    chooseIdentity(probe, '/srv/data', '/srv/pg')
    expect(asked).toEqual(['userns /srv/data', 'user /srv'])
  })

  it('does not pass the environment of Posthorn on', () => {
    for (const identity of [{ kind: 'self' }, { kind: 'userns' }, { kind: 'user', ...nobody }] as const) {
      expect(Object.keys(runAs(identity, 'postgres', []).options.env).sort()).toEqual([
        'LC_ALL',
        'PATH',
        'TZ',
      ])
    }
  })
})

describe('the PostgreSQL binaries', () => {
  it('are refused for a platform that has none, and the error names it', () => {
    expect(() => findBinaries('plan9-x64')).toThrow(/no embedded PostgreSQL for plan9-x64: set DATABASE_URL/)
  })

  it('also run from a copy, which gets the links that npm leaves out', () => {
    const { home, ...rest } = findBinaries()
    // As npm unpacks them when install scripts are disabled.
    const bare = join(parent, 'package', 'native')
    cpSync(home, bare, { recursive: true, filter: source => !lstatSync(source).isSymbolicLink() })
    const copy = copyBinaries({ home: bare, ...rest }, parent)
    const { status, stdout } = spawnSync(join(copy.home, 'bin', 'postgres'), ['--version'], {
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([0, expect.stringContaining(`PostgreSQL) ${rest.major}.`)])
    expect(copyBinaries({ home: bare, ...rest }, parent)).toEqual(copy)
  })
})

describe('the settings of the embedded server', () => {
  it('leave no temporary file behind when they cannot be written', () => {
    // A directory in the file’s place: the only failure that also stops root.
    mkdirSync(join(parent, 'postgresql.conf', 'in the way'), { recursive: true })
    expect(() => writeSettings(parent, { kind: 'self' })).toThrow()
    expect(readdirSync(parent)).toEqual(['postgresql.conf'])
  })
})

describe('the socket directory', () => {
  const owner = { uid: process.getuid!(), gid: process.getgid!() }

  it('has a short path, is private, and is the same at every start', () => {
    const directory = claimSocketDir(`/srv/${'long/'.repeat(50)}`, owner, parent)
    expect(lstatSync(directory).mode & 0o777).toBe(0o700)
    expect(directory.length - parent.length).toBe('/posthorn-0123456789ab'.length)
    expect(claimSocketDir(`/srv/${'long/'.repeat(50)}`, owner, parent)).toBe(directory)
    expect(claimSocketDir('/srv/other', owner, parent)).not.toBe(directory)
  })

  it('is refused when other users may enter it, or when it is a link', () => {
    const directory = claimSocketDir('/srv/data', owner, parent)
    rmSync(directory, { recursive: true })
    mkdirSync(directory, { mode: 0o755 })
    expect(() => claimSocketDir('/srv/data', owner, parent)).toThrow(/not a private directory of this user/)
    rmSync(directory, { recursive: true })
    mkdirSync(join(parent, 'elsewhere'), { mode: 0o700 })
    symlinkSync(join(parent, 'elsewhere'), directory)
    expect(() => claimSocketDir('/srv/data', owner, parent)).toThrow(/not a private directory of this user/)
  })
})

describe('the log of the embedded server', () => {
  const large = Buffer.alloc(8 * 1024 * 1024 + 1, 'x')

  it('is rotated when it is large, with one older file kept', () => {
    const file = join(parent, 'postgres.log')
    rotateLog(file)
    writeFileSync(file, 'small')
    rotateLog(file)
    expect(lstatSync(file).size).toBe(5)
    writeFileSync(file, large)
    rotateLog(file)
    expect(lstatSync(file, { throwIfNoEntry: false })).toBeUndefined()
    expect(lstatSync(`${file}.1`).size).toBe(large.length)
  })

  it('is truncated while the server runs', () => {
    const file = join(parent, 'postgres.log')
    writeFileSync(file, large)
    trimLog(file)
    expect(lstatSync(file).size).toBe(0)
  })

  it('yields the reason why the server ended, not the connections that it rejected while starting', () => {
    const file = join(parent, 'postgres.log')
    const before = '2026-01-01 00:00:00.000 UTC [1] FATAL:  an older one\n'
    const lines = [
      'LOG:  database system was interrupted',
      'FATAL:  the database system is starting up',
      'FATAL:  could not write to file "pg_wal/xlogtemp.7": No space left on device',
      'FATAL:  the database system is not yet accepting connections',
      'FATAL:  the database system is in recovery mode',
      'LOG:  database system is shut down',
    ]
    writeFileSync(file, before + lines.map(line => `2026-01-01 00:00:00.000 UTC [7] ${line}\n`).join(''))
    expect(exitReason(file, before.length)).toBe(
      'could not write to file "pg_wal/xlogtemp.7": No space left on device',
    )
  })
})
