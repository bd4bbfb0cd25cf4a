import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from './loopback.ts'
import { createSignals } from './signals.ts'

/** Independent SMSCs: Kannel's, in C, and one that uses Net::SMPP, in Perl. */

const DRIVE_SMPP = '/usr/lib/kannel/test/drive_smpp'
const SCRIPT = fileURLToPath(new URL('../channels/peers/smsc.pl', import.meta.url))
/** drive_smpp connects to its own smsbox on this port, whatever its options are. */
const SMSBOX_PORT = 13_001

export const hasKannel = existsSync(DRIVE_SMPP)
export const hasNetSmpp = spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0

if (!hasKannel) console.warn('SKIPPED: drive_smpp is missing; apt-get install -y kannel-extras')
if (!hasNetSmpp) console.warn('SKIPPED: Net::SMPP is missing; apt-get install -y libnet-smpp-perl')

export type Kannel = {
  port: number
  /** Resolves when it has written this to its log. */
  logged(text: string): Promise<void>
  /**
   * Its whole log, once it has ended: it does so when it has sent and received its messages and the client is
   * gone.
   */
  report(): Promise<string>
  stop(): Promise<void>
}

/**
 * Starts an SMSC that sends `messages` messages to the client that binds, and counts what it receives. Only
 * one can run on a machine at a time.
 */
export async function startDriveSmpp(messages: number): Promise<Kannel> {
  const smsbox = await holdSmsboxPort()
  const port = await freePort()
  const child = spawn(DRIVE_SMPP, ['-v', '0', '-p', String(port), '-m', String(messages)], { cwd: tmpdir() })
  const signals = createSignals()
  let log = ''
  child.stderr.setEncoding('latin1').on('data', (text: string) => {
    log += text
    signals.notify()
  })
  const ended = once(child, 'close')
  return {
    port,
    logged: text => signals.until(() => log.includes(text)),
    async report() {
      await ended
      return log
    },
    async stop() {
      await kill(child)
      smsbox.close()
    },
  }
}

/** Listens in place of the smsbox; if another run does, waits until that has ended. */
async function holdSmsboxPort(): Promise<{ close(): void }> {
  for (;;) {
    const sockets = new Set<Socket>()
    const server = createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => {}).resume()
    })
    const held = new Promise<boolean>(resolve => {
      server.once('listening', () => resolve(true)).once('error', () => resolve(false))
    })
    server.listen(SMSBOX_PORT, '127.0.0.1')
    if (await held) {
      return {
        close() {
          server.close()
          for (const socket of sockets) socket.destroy()
        },
      }
    }
    await once(
      connect(SMSBOX_PORT, '127.0.0.1')
        .on('error', () => {})
        .resume(),
      'close',
    )
  }
}

export type PerlLine = Record<string, unknown>

export type PerlCentre = {
  port: number
  /** What it received of one kind, in order. */
  got(kind: string): PerlLine[]
  until(kind: string, count: number): Promise<void>
  stop(): Promise<void>
}

/** An SMSC for one connection, which decides by the last digits of the recipient: see its script. */
export async function startPerlCentre(): Promise<PerlCentre> {
  const child = spawn('perl', [SCRIPT], { stdio: ['ignore', 'pipe', 'ignore'] })
  const signals = createSignals()
  const lines: PerlLine[] = []
  createInterface({ input: child.stdout }).on('line', line => {
    lines.push(JSON.parse(line) as PerlLine)
    signals.notify()
  })
  await signals.until(() => lines.length > 0)
  const got = (kind: string): PerlLine[] => lines.filter(line => line['got'] === kind)
  return {
    port: lines[0]!['port'] as number,
    got,
    until: (kind, count) => signals.until(() => got(kind).length >= count),
    stop: () => kill(child),
  }
}

/** Resolves when the process has ended. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
