import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

/**
 * Podman containers with a storage of their own. The base images of the Dockerfile are not pulled: both are
 * built here, from the Debian packages installed on this machine and from its npm.
 */

const TOOLS = 'podman podman-compose runc'
const DEBIAN = 'docker.io/library/debian:bookworm-slim'
const NODE = 'docker.io/library/node:24-bookworm-slim'
/** The packages of debian:bookworm-slim that the build and the program may need, with their dependencies. */
const PACKAGES =
  'base-files base-passwd bash dash coreutils debianutils findutils grep sed login passwd libacl1 libattr1 libaudit1 ' +
  'libc-bin libc6 libcap-ng0 libcrypt1 libgcc-s1 libgmp10 libpam0g libpam-modules libpam-runtime libpcre2-8-0 ' +
  'libselinux1 libsemanage2 libsepol2 libstdc++6 libtinfo6 libbz2-1.0'

const run = promisify(execFile)

export type Containers = {
  podman(...args: string[]): Promise<string>
  /** Runs compose with the environment variables that its file needs. */
  compose(env: Record<string, string>, ...args: string[]): Promise<string>
  /** Ends and removes all of them, and their images. */
  close(): Promise<void>
}

/** Null, with a message, if containers do not run on this machine. */
export async function findContainers(): Promise<Containers | null> {
  const missing = TOOLS.split(' ').filter(tool => spawnSync(tool, ['--version']).status !== 0)
  if (missing.length > 0) return skip(`${missing.join(', ')} missing; apt-get install -y ${TOOLS}`)
  const npm = findNpm()
  if (process.getuid?.() !== 0) return skip('only root can make what the image starts from')
  if (!existsSync('/var/lib/dpkg/status') || npm === null) return skip('this is no Debian with its own npm')

  const directory = mkdtempSync(join(tmpdir(), 'posthorn-containers-'))
  const containers = createContainers(directory)
  try {
    await makeBases(containers, directory, npm)
    await containers.podman('run', '--rm', '--network=host', DEBIAN, '/bin/true')
    return containers
  } catch (error) {
    await containers.close()
    return skip((error as Error).message)
  }
}

function skip(reason: string): null {
  console.warn(`SKIPPED: the container image is not built: ${reason}`)
  return null
}

function findNpm(): string | null {
  const found = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim()
  const home = found && resolve(realpathSync(found), '../..')
  return existsSync(join(home, 'node_modules')) && existsSync(join(home, 'bin/npm-cli.js')) ? home : null
}

function createContainers(directory: string): Containers {
  const storage = join(directory, 'storage.conf')
  writeFileSync(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${directory}/images"\nrunroot = "${directory}/running"\n`,
  )
  const settings = join(directory, 'containers.conf')
  writeFileSync(
    settings,
    `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[network]
network_config_dir = "${directory}/networks"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "none"
`,
  )
  mkdirSync(join(directory, 'networks'))
  const call = async (program: string, args: string[], env: Record<string, string> = {}) => {
    const { stdout, stderr } = await run(program, args, {
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        CONTAINERS_STORAGE_CONF: storage,
        CONTAINERS_CONF: settings,
        BUILDAH_ISOLATION: 'chroot',
        ...env,
      },
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout + stderr
  }
  const podman = (...args: string[]) => call('podman', args)
  return {
    podman,
    compose: (env, ...args) => call('podman-compose', ['--file', 'deploy/compose.yaml', ...args], env),
    async close() {
      await podman('rm', '--all', '--force', '--volumes', '--time', '1').catch(() => {})
      await podman('network', 'prune', '--force').catch(() => {})
      await podman('volume', 'prune', '--force').catch(() => {})
      // Podman removes an image file by file, and syncs the disk for each.
      await run('umount', [join(directory, 'images/overlay')]).catch(() => {})
      await run('rm', ['-rf', directory])
    },
  }
}

async function makeBases({ podman }: Containers, directory: string, npm: string): Promise<void> {
  const debian = join(directory, 'debian')
  await unpackSystem(debian)
  await podman('import', `${debian}.tar`, DEBIAN)

  const node = join(directory, 'node')
  mkdirSync(node)
  // A build without network access uses npm's cache, which npm ci of this checkout has filled.
  writeFileSync(
    join(node, 'Dockerfile'),
    `FROM ${DEBIAN}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/npm
RUN ln -s ../lib/npm/bin/npm-cli.js /usr/local/bin/npm && chmod +x /usr/local/lib/npm/bin/npm-cli.js
ENV npm_config_prefer_offline=true npm_config_registry=${await askNpm('registry')}
`,
  )
  copyFileSync(process.execPath, join(node, 'node'))
  await run('cp', ['-a', npm, join(node, 'npm')])
  await podman('build', '--pull=never', '--tag', NODE, node)
}

/** A setting of npm on this machine. */
async function askNpm(setting: 'cache' | 'registry'): Promise<string> {
  return (await run('npm', ['config', 'get', setting])).stdout.trim()
}

/** Copies the packages' files from this machine, with the users of a fresh system. */
async function unpackSystem(place: string): Promise<void> {
  const { stdout } = await run('dpkg-query', ['--listfiles', ...PACKAGES.split(' ')])
  const files = stdout
    .split('\n')
    .filter(file => !/^\/usr\/share\/(doc|man|locale)\//.test(file) && existsSync(file))
    // By its real path: /bin may be a link to /usr/bin.
    .map(file => join(realpathSync(dirname(file)), basename(file)))
  const links = ['/bin', '/lib', '/lib64', '/sbin'].filter(path => existsSync(path))
  writeFileSync(`${place}.list`, [...links, ...new Set(files)].join('\n'))
  mkdirSync(place)
  await run('tar', ['-c', '-f', `${place}.tar`, '--no-recursion', '-C', '/', '-T', `${place}.list`])
  await run('tar', ['-x', '-f', `${place}.tar`, '-C', place])
  for (const name of ['passwd', 'group']) {
    copyFileSync(join(place, `usr/share/base-passwd/${name}.master`), join(place, `etc/${name}`))
  }
  await run('tar', ['-c', '-f', `${place}.tar`, '-C', place, '.'])
}

/** npm's errors if it cannot reach a registry. */
const NO_REGISTRY = /\b(?:EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/

/**
 * Builds the image of this checkout by the Dockerfile; null, with a message, if npm has no source for its
 * packages.
 */
export async function buildImage(containers: Containers): Promise<Containers | null> {
  const cache = await askNpm('cache')
  try {
    await containers.podman(
      'build',
      '--pull=never',
      // Layers are not cached, since there is only one build.
      '--layers=false',
      '--format=docker',
      ...(existsSync(cache) ? ['--volume', `${cache}:/root/.npm:O`] : []),
      '--file=deploy/Dockerfile',
      '--tag=posthorn',
      '.',
    )
    return containers
  } catch (error) {
    await containers.close()
    const code = NO_REGISTRY.exec((error as Error).message)?.[0]
    if (code === undefined) throw error
    return skip(`npm finds no registry in there (${code})`)
  }
}
