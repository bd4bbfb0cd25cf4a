import {
  type ChildProcess,
  type ChildProcessByStdio,
  execFileSync,
  spawn,
  spawnSync,
} from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { copyBinaries, findBinaries } from '../../src/infra/embedded/binaries.ts'
import { checkAccess, checkMajor } from '../../src/infra/embedded/cluster.ts'
import { type Probe, systemProbe } from '../../src/infra/embedded/identity.ts'
import { isPostmaster } from '../../src/infra/embedded/postmaster.ts'
import { type Embedded, type EmbeddedOptions, startEmbedded } from '../../src/infra/embedded.ts'
import { createLog } from '../../src/infra/log.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { Refusal } from '../../src/lib/refusal.ts'
import { lookUntil } from '../support/look-until.ts'
import { silentProgress } from '../support/silent-progress.ts'

const OWNER = fileURLToPath(new URL('support/owner.ts', import.meta.url))
const SILENT = { clock: systemClock, log: createLog({ level: 'silent' }), progress: silentProgress }
const isRoot = process.getuid?.() === 0
const onLinux = process.platform === 'linux'

/** The data of a server, created once and then copied: creating it takes longer than anything else here. */
let pattern: string
let parent: string
let dataDir: string
let started: Embedded[]

beforeAll(async () => {
  pattern = mkdtempSync(join(tmpdir(), 'posthorn-pattern-'))
  const embedded = await startEmbedded({ ...SILENT, dataDir: pattern })
  await embedded.stop()
})

afterAll(() => rmSync(pattern, { recursive: true }))

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'posthorn-embedded-'))
  dataDir = join(parent, 'data')
  started = []
})

afterEach(async () => {
  for (const embedded of started) await embedded.stop()
  rmSync(parent, { recursive: true })
})

/** For tests that do not depend on how the data is created. */
function copyData(): void {
  // With its modes, which PostgreSQL checks.
  execFileSync('cp', ['-a', pattern, dataDir])
}

/** A copy as of a running server, with the pid and the socket of that; but not one that a checkpoint has torn. */
function copyOf(running: string, copy: string): void {
  execFileSync('cp', ['-a', pattern, copy])
  execFileSync('cp', ['-a', join(running, 'postgres', 'postmaster.pid'), join(copy, 'postgres')])
}

async function start(options: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const embedded = await startEmbedded({ ...SILENT, dataDir, ...options })
  started.push(embedded)
  return embedded
}

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

/** Like a container on the same volume: with its own processes, shared memory and socket directory. */
const APART = ['--user', '--map-root-user', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc']
const canBeApart =
  onLinux &&
  ['unshare', 'flock'].every(name => spawnSync(name, ['--version']).status === 0) &&
  spawnSync('unshare', [...APART, 'true']).status === 0

type Owner = { url: string; pid: number; child: ChildProcess; exit: Promise<unknown[]> }

/** Another process that ownerOf a server on `dataDir`; rejects when that process exits instead. */
function startOwner(): Promise<Owner> {
  return ownerOf(spawn(process.execPath, [OWNER, dataDir], { stdio: ['pipe', 'pipe', 'ignore'] }))
}

function startOwnerApart(): Promise<Owner> {
  const TMPDIR = mkdtempSync(join(parent, 'tmp-'))
  const env = { ...process.env, TMPDIR }
  const args = [...APART, process.execPath, OWNER, dataDir]
  return ownerOf(spawn('unshare', args, { env, stdio: ['pipe', 'pipe', 'ignore'] }))
}

async function ownerOf(child: ChildProcessByStdio<Writable, Readable, null>): Promise<Owner> {
  const exit = once(child, 'exit')
  const said = once(createInterface(child.stdout), 'line')
  const [line] = await Promise.race([said, exit])
  if (typeof line !== 'string') throw new Error(`the owner left with ${line}`)
  return { ...(JSON.parse(line) as { url: string; pid: number }), child, exit }
}

function stopOwner(owner: Owner): Promise<unknown[]> {
  owner.child.stdin!.end()
  return owner.exit
}

describe('the embedded server', () => {
  it('is durable, does not listen on the network, and leaves no process or socket directory after stop', async () => {
    const embedded = await start()
    const rows = await ask(
      embedded.url,
      `SELECT current_database() AS name, current_setting('fsync') AS fsync,
         current_setting('synchronous_commit') AS commit, current_setting('data_checksums') AS checksums,
         current_setting('listen_addresses') AS listens, current_setting('server_encoding') AS encoding`,
    )
    expect(rows[0]).toEqual({
      name: 'posthorn',
      fsync: 'on',
      commit: 'on',
      checksums: 'on',
      listens: '',
      encoding: 'UTF8',
    })
    const socketDir = new URL(embedded.url).searchParams.get('host')!
    expect(statSync(socketDir).mode & 0o777).toBe(0o700)
    expect(statSync(dataDir).mode & 0o777).toBe(0o700)
    const pid = embedded.pid()
    await embedded.stop()
    expect(isPostmaster(pid, join(dataDir, 'postgres'))).toBe(false)
    expect(existsSync(socketDir)).toBe(false)
  })

  it('keeps its data across a restart', async () => {
    copyData()
    const first = await start()
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await first.stop()
    const second = await start()
    expect(await ask(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  it('survives a killed owner, is adopted by the next one, and stops cleanly for it', async () => {
    copyData()
    const owner = await startOwner()
    await ask(owner.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    owner.child.kill('SIGKILL')
    await owner.exit
    const embedded = await start()
    expect(embedded.pid()).toBe(owner.pid)
    expect(embedded.url).toBe(owner.url)
    expect(await ask(embedded.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    await embedded.stop()
    expect(isPostmaster(owner.pid, join(dataDir, 'postgres'))).toBe(false)
    expect(readFileSync(join(dataDir, 'postgres.log'), 'utf8')).toContain('database system is shut down')
  })

  it('belongs to one process at a time, and the error names that process', async () => {
    copyData()
    const owner = await startOwner()
    await expect(start()).rejects.toThrow(
      `Another Posthorn (process ${owner.child.pid}) already runs on ${dataDir}: stop it first`,
    )
    // The refused start has left the other process’s server alone.
    expect(await ask(owner.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(await stopOwner(owner)).toEqual([0, null])
  })

  it.runIf(onLinux)('is recognised through a symbolic link to its directory, and left running', async () => {
    copyData()
    const owner = await startOwner()
    const link = join(parent, 'link')
    symlinkSync(dataDir, link)
    await expect(start({ dataDir: link })).rejects.toThrow(
      `Another Posthorn (process ${owner.child.pid}) already runs on ${link}: stop it first`,
    )
    expect(await stopOwner(owner)).toEqual([0, null])
    expect(isPostmaster(owner.pid, join(dataDir, 'postgres'))).toBe(false)
  })

  it.runIf(onLinux)('is found again after its directory was moved while its owner was dead', async () => {
    copyData()
    const owner = await startOwner()
    owner.child.kill('SIGKILL')
    await owner.exit
    const moved = join(parent, 'moved')
    renameSync(dataDir, moved)
    const embedded = await start({ dataDir: moved })
    expect(embedded.pid()).toBe(owner.pid)
  })

  it.runIf(onLinux)('is not mistaken for that of a copy, whose path is the end of its own', async () => {
    const original = join(parent, 'backup', dataDir)
    mkdirSync(join(original, '..'), { recursive: true })
    execFileSync('cp', ['-a', pattern, original])
    const first = await start({ dataDir: original })
    copyOf(original, dataDir)
    const second = await start()
    expect(second.pid()).not.toBe(first.pid())
    expect(second.url).not.toBe(first.url)
    expect(await ask(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it.runIf(onLinux)(
    'is not used for other files that were put in the place of its own, as by a restore',
    async () => {
      copyData()
      const owner = await startOwner()
      const backup = join(parent, 'backup')
      copyOf(dataDir, backup)
      owner.child.kill('SIGKILL')
      await owner.exit
      const moved = join(parent, 'moved')
      renameSync(dataDir, moved)
      renameSync(backup, dataDir)
      await expect(start()).rejects.toThrow(
        `The PostgreSQL of the files that were at ${join(dataDir, 'postgres')} before still runs (process ${owner.pid})`,
      )
      rmSync(join(dataDir, 'postgres', 'postmaster.pid'))
      // Not even where only the socket's own lock tells of it, as beside a copy of a stopped server.
      await expect(start()).rejects.toThrow(`before still runs (process ${owner.pid})`)
      process.kill(owner.pid, 'SIGQUIT')
      const runs = async () => isPostmaster(owner.pid, join(moved, 'postgres'))
      await lookUntil(runs, running => !running, 10_000)
      const embedded = await start()
      expect(await ask(embedded.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    },
  )

  it.runIf(onLinux)(
    'is stopped by its owner without harm to files that were put in the place of its own',
    async () => {
      copyData()
      const first = await start()
      await ask(first.url, 'CREATE TABLE written AS SELECT generate_series(1, 100000) AS number')
      const moved = join(parent, 'moved')
      renameSync(dataDir, moved)
      copyData()
      const pid = first.pid()
      await first.stop()
      expect(isPostmaster(pid, join(moved, 'postgres'))).toBe(false)
      const second = await start()
      expect(await ask(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      const before = await start({ dataDir: moved })
      expect(await ask(before.url, 'SELECT count(*)::int AS count FROM written')).toEqual([
        { count: 100_000 },
      ])
    },
  )

  it.runIf(canBeApart)(
    'does not start while another container on the same volume runs a server',
    async () => {
      copyData()
      const owner = await startOwnerApart()
      const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
      const settings = join(dataDir, 'postgres', 'postgresql.conf')
      const left = [readFileSync(pidFile, 'utf8'), readFileSync(settings, 'utf8')]
      await expect(start()).rejects.toThrow(
        `A PostgreSQL that is not visible from here, for example in another container, uses ${dataDir}: stop that Posthorn first`,
      )
      expect([readFileSync(pidFile, 'utf8'), readFileSync(settings, 'utf8')]).toEqual(left)
      expect(await ask(owner.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
      expect(await stopOwner(owner)).toEqual([0, null])
      const embedded = await start()
      expect(await ask(embedded.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    },
  )

  it.runIf(canBeApart)(
    'starts after a container on the same volume was killed with all its processes',
    async () => {
      copyData()
      const owner = await startOwnerApart()
      await ask(owner.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
      owner.child.kill('SIGKILL')
      await owner.exit
      const embedded = await start()
      expect(await ask(embedded.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    },
  )

  it('is handed over when its owner stops while another process waits', async () => {
    copyData()
    const owner = await startOwner()
    const waiting = start()
    expect(await stopOwner(owner)).toEqual([0, null])
    const embedded = await waiting
    expect(await ask(embedded.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('is created once when several processes start at the same time', async () => {
    const owners = await Promise.allSettled([startOwner(), startOwner(), startOwner()])
    expect(owners.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    for (const owner of owners)
      if (owner.status === 'fulfilled') expect(await stopOwner(owner.value)).toEqual([0, null])
    expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log'])
  }, 60_000)

  it.runIf(canBeApart)(
    'is created once when several containers start at the same time, all of them with pid 1',
    async () => {
      const owners = await Promise.allSettled([startOwnerApart(), startOwnerApart(), startOwnerApart()])
      expect(owners.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
      for (const owner of owners)
        if (owner.status === 'fulfilled') expect(await stopOwner(owner.value)).toEqual([0, null])
      expect(readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log'])
    },
    60_000,
  )

  it('is restarted when it crashes, with all committed data', async () => {
    copyData()
    const told = Promise.withResolvers<void>()
    const stream = { write: (line: string) => void (line.includes('is running again') && told.resolve()) }
    const embedded = await start({ log: createLog({ level: 'info', stream }) })
    await ask(embedded.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const pid = embedded.pid()
    process.kill(pid, 'SIGKILL')
    await told.promise
    expect(embedded.pid()).not.toBe(pid)
    expect(await ask(embedded.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  it('starts although its old pid now belongs to another process, as after a reboot', async () => {
    copyData()
    const first = await start()
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    const left = readFileSync(pidFile, 'utf8')
    await first.stop()
    writeFileSync(pidFile, left.replace(/^\d+/, String(process.ppid)))
    const second = await start()
    expect(await ask(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it.runIf(onLinux)('starts although its dead predecessor is still a zombie', async () => {
    copyData()
    const first = await start()
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    const left = readFileSync(pidFile, 'utf8')
    await first.stop()
    // `cat` has replaced the shell once it echoes a line, and never reaps the child.
    const cat = spawn('sh', ['-c', 'sleep 600 & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
    const lines = createInterface({ input: cat.stdout })[Symbol.asyncIterator]()
    try {
      const pid = String((await lines.next()).value)
      cat.stdin.write('here\n')
      expect((await lines.next()).value).toBe('here')
      process.kill(Number(pid), 'SIGKILL')
      const isDead = (status: string) => /^State:\tZ/m.test(status)
      await lookUntil(async () => readFileSync(`/proc/${pid}/status`, 'utf8'), isDead, 10_000)
      writeFileSync(pidFile, left.replace(/^\d+/, pid))
      const second = await start()
      expect(await ask(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    } finally {
      cat.kill('SIGKILL')
    }
  })

  it('refuses data of another major version', async () => {
    copyData()
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n')
    await expect(start()).rejects.toThrow(
      /created by PostgreSQL 17, but this Posthorn includes PostgreSQL 18/,
    )
    writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '')
    await expect(start()).rejects.toThrow(/PG_VERSION has no version of PostgreSQL, so it is damaged/)
  })

  it('reports why it does not start', async () => {
    copyData()
    writeFileSync(join(dataDir, 'postgres', 'custom.conf'), 'max_connections = many\n')
    await expect(start()).rejects.toThrow(/does not start: configuration file .* contains errors/)
  })

  it('says whose the files must be where a restore has opened them to others', async () => {
    copyData()
    chmodSync(join(dataDir, 'postgres'), 0o755)
    await expect(start()).rejects.toThrow(
      /postgres" has invalid permissions: all files there must belong to the user who starts Posthorn/,
    )
  })

  it.runIf(isRoot)('says whose the files must be where a restore has left them to another user', () => {
    copyData()
    const clusterDir = join(dataDir, 'postgres')
    chmodSync(parent, 0o700)
    // Found before: the other user may not read the program's files either.
    const binaries = findBinaries()
    process.seteuid!(65_534)
    try {
      expect(() => checkAccess(clusterDir)).toThrow(
        `${clusterDir} is not accessible to this user: all files there`,
      )
      expect(() => checkMajor(clusterDir, binaries)).toThrow(
        `${join(clusterDir, 'PG_VERSION')} is not accessible to this user: all files there must belong to the user`,
      )
    } finally {
      process.seteuid!(0)
    }
  })

  it('refuses a directory with files that are no data, and leaves them alone', async () => {
    copyData()
    rmSync(join(dataDir, 'postgres', 'PG_VERSION'))
    const before = readdirSync(join(dataDir, 'postgres'))
    await expect(start()).rejects.toThrow(
      /postgres has files, but no PG_VERSION, .* restore it from a backup/,
    )
    expect(readdirSync(join(dataDir, 'postgres'))).toEqual(before)
  })

  it.each([
    ['base', /is damaged: database "postgres" does not exist/],
    ['base/5/PG_VERSION', /is damaged or not Posthorn's: "base\/5" is not a valid data directory/],
    ['base/16384', /is damaged: database "posthorn" does not exist/],
    ['base/16384/PG_VERSION', /is damaged or not Posthorn's: "base\/16384" is not a valid data directory/],
    ['base/16384/1259', /is damaged: could not open file "base\/16384\/1259"/],
  ])('refuses data without %s, with which the server starts, and stops the server', async (path, reason) => {
    copyData()
    rmSync(join(dataDir, 'postgres', path), { recursive: true })
    const refusal: unknown = await start().catch(error => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect((refusal as Error).message).toMatch(reason)
    expect((refusal as Error).message).toMatch(/Restore it from a backup\.$/)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  })

  it('explains errors of damaged data, and no others', async () => {
    copyData()
    const embedded = await start()
    await ask(embedded.url, 'CREATE TABLE things AS SELECT 1 AS one')
    const [row] = await ask(embedded.url, `SELECT pg_relation_filepath('things') AS path`)
    await embedded.stop()
    rmSync(join(dataDir, 'postgres', row!['path'] as string))
    const { url, explain } = await start()
    const missing = await ask(url, 'SELECT * FROM things').catch(explain)
    expect(missing).toBeInstanceOf(Refusal)
    expect((missing as Error).message).toMatch(/is damaged: could not open file .* Restore it from a backup/)
    expect(await ask(url, 'SELECT * FROM others').catch(explain)).not.toBeInstanceOf(Refusal)
  })

  it.each([
    ['a file', () => writeFileSync(join(dataDir, 'postgres'), ''), /postgres is not a directory: restore/],
    [
      'a link to nowhere',
      () => symlinkSync('/nowhere/else', join(dataDir, 'postgres')),
      /postgres is a link to \/nowhere\/else, which does not exist: mount or create that/,
    ],
  ])('refuses %s in place of its data', async (_name, put, reason) => {
    mkdirSync(dataDir)
    put()
    await expect(start()).rejects.toThrow(reason)
  })

  it('refuses a log that cannot be written', async () => {
    copyData()
    rmSync(join(dataDir, 'postgres.log'))
    mkdirSync(join(dataDir, 'postgres.log'))
    await expect(start()).rejects.toThrow(/postgres\.log cannot be written \(EISDIR\): check its permissions/)
  })

  it('goes on although its log cannot be shortened, and shortens it once it can', async () => {
    copyData()
    let look = () => {}
    const clock: Clock = {
      ...systemClock,
      after(delayMs, run) {
        if (delayMs !== 60_000) return systemClock.after(delayMs, run)
        look = run
        return () => {}
      },
    }
    await start({ clock })
    const file = join(dataDir, 'postgres.log')
    rmSync(file)
    symlinkSync(file, file)
    look()
    rmSync(file)
    writeFileSync(file, Buffer.alloc(64 * 1_048_576))
    look()
    expect(statSync(file).size).toBe(0)
  })

  it('says what is missing where the server writes no fatal line', async () => {
    copyData()
    rmSync(join(dataDir, 'postgres', 'global', 'pg_control'))
    await expect(start()).rejects.toThrow(
      /does not start: .*could not find the database system .*pg_control.* restore the data from a backup/,
    )
  })

  it('stops what it launched when it is told to stop before that is ready', async () => {
    copyData()
    const stop = new AbortController()
    stop.abort()
    const starting = startEmbedded({ ...SILENT, dataDir, signal: stop.signal })
    await expect(starting).rejects.toBe(stop.signal.reason)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  })

  it('is told to stop where that ended its creation too, as Ctrl-C at a terminal does', async () => {
    mkdirSync(dataDir)
    const { home } = copyBinaries(findBinaries(), dataDir)
    const [reached, gate] = [join(parent, 'reached'), join(parent, 'gate')]
    execFileSync('mkfifo', [gate])
    const waits = `#!/bin/sh\necho > ${reached}\nread -r line < ${gate}\nexit 1\n`
    rmSync(join(home, 'bin', 'initdb'))
    writeFileSync(join(home, 'bin', 'initdb'), waits, { mode: 0o755 })
    const stop = new AbortController()
    const probe: Probe = { ...systemProbe, try: () => 'binaries-unreachable' }
    const starting = start({ probe, signal: stop.signal })
    const ended = starting.catch(error => error)
    await lookUntil(async () => existsSync(reached), Boolean, 10_000)
    stop.abort()
    writeFileSync(gate, 'open\n')
    expect(await ended).toBe(stop.signal.reason)
    expect(readdirSync(dataDir)).not.toContain('postgres')
  })

  it('takes a server for running while its command line is that of another program, as before it executes PostgreSQL', async () => {
    copyData()
    rmSync(join(dataDir, 'postgres', 'base'), { recursive: true })
    const { home } = copyBinaries(findBinaries(), dataDir)
    const program = join(home, 'bin', 'postgres')
    const [reached, gate] = [join(parent, 'reached'), join(parent, 'gate')]
    renameSync(program, `${program}.real`)
    execFileSync('mkfifo', [gate])
    // The parameters go by the environment, so that no command line names the data until the gate opens.
    const waits = `echo > ${reached}; read -r line < ${gate}; exec ${program}.real $ARGUMENTS`
    writeFileSync(program, `#!/bin/sh\nARGUMENTS="$*" exec sh -c '${waits}'\n`, { mode: 0o755 })
    let pauses = 0
    const clock: Clock = {
      ...systemClock,
      after(delayMs, run) {
        // Between the first pause and the second one the start has looked whether its server runs.
        if (existsSync(reached) && ++pauses === 2) writeFileSync(gate, 'open\n')
        return systemClock.after(delayMs, run)
      },
    }
    const probe: Probe = { ...systemProbe, try: () => 'binaries-unreachable' }
    await expect(start({ clock, probe })).rejects.toThrow(/database "postgres" does not exist/)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false)
  })

  it('refuses a data directory that cannot be created', async () => {
    writeFileSync(join(parent, 'file'), '')
    await expect(start({ dataDir: join(parent, 'file', 'data') })).rejects.toThrow(
      /cannot be written to \(ENOTDIR\): check its permissions or set POSTHORN_DATA_DIR/,
    )
  })
})

describe.runIf(isRoot)('the embedded server, run by root where user namespaces are forbidden', () => {
  const nobody = { uid: 65534, gid: 65534 }
  const forbidding: Probe = {
    uid: 0,
    users: () => [nobody],
    try: (identity, directory, home) =>
      identity.kind === 'userns' ? 'forbidden' : systemProbe.try(identity, directory, home),
  }

  function uidOf(pid: number): number {
    return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
  }

  it('runs as an unprivileged user, who owns the data', async () => {
    chmodSync(parent, 0o755)
    const embedded = await start({ probe: forbidding })
    expect(uidOf(embedded.pid())).toBe(nobody.uid)
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(nobody.uid)
    expect(await ask(embedded.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('copies its binaries to where that user can run them', async () => {
    chmodSync(parent, 0o755)
    const probe: Probe = {
      ...forbidding,
      try: identity => (identity.kind === 'userns' ? 'forbidden' : 'binaries-unreachable'),
    }
    const embedded = await start({ probe })
    expect(uidOf(embedded.pid())).toBe(nobody.uid)
    expect(readFileSync(`/proc/${embedded.pid()}/cmdline`, 'utf8')).toContain(join(dataDir, 'runtime-'))
  })

  it('takes over data that root created in a user namespace, and gives it back', async () => {
    chmodSync(parent, 0o755)
    copyData()
    const first = await start()
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await first.stop()
    const second = await start({ probe: forbidding })
    expect(await ask(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
    await second.stop()
    const third = await start()
    expect(await ask(third.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }])
  })

  it('refuses a data directory below one that only root may enter, and names the settings to change', async () => {
    chmodSync(parent, 0o700)
    const refused = start({ probe: forbidding })
    await expect(refused).rejects.toThrow(/no unprivileged user can access .*: set POSTHORN_DATA_DIR/)
    await expect(refused).rejects.toThrow(/or set DATABASE_URL/)
  })
})
