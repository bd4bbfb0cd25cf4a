import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './loopback.ts'
import { kill } from './message-centres.ts'
import { createSignals } from './signals.ts'

/** Kannel as a gateway over HTTP: its bearerbox and smsbox. The test is the phones, over Kannel's `fake` SMSC. */

const BEARERBOX = '/usr/sbin/bearerbox'
const SMSBOX = '/usr/sbin/smsbox'

export const hasKannelGateway = existsSync(BEARERBOX) && existsSync(SMSBOX)

if (!hasKannelGateway) console.warn('SKIPPED: bearerbox is missing; apt-get install -y kannel')

export type KannelGateway = {
  /** What the phones got: sender, recipient, kind and content of each message or part, in this order. */
  received: readonly string[]
  until(count: number): Promise<void>
  /** A phone sends `<from> <to> text <content>`. */
  write(line: string): void
  /** Resolves when one of its boxes has logged this. */
  logged(text: string): Promise<void>
  stop(): Promise<void>
}

export type KannelOptions = {
  /** Numbers that begin so go to the phones. */
  prefix: string
  /** The groups of its configuration besides core and the SMSC of the phones. */
  groups: string
}

/** Resolves when it takes messages. */
export async function startKannelGateway({ prefix, groups }: KannelOptions): Promise<KannelGateway> {
  const dir = await mkdtemp(join(tmpdir(), 'posthorn-kannel-'))
  const [adminPort, boxPort, phonesPort] = [await freePort(), await freePort(), await freePort()]
  const signals = createSignals()
  const boxes: ChildProcess[] = []
  const received: string[] = []
  let phones: Socket | null = null
  let log = ''

  async function logged(text: string): Promise<void> {
    const hasEnded = () => boxes.some(box => box.exitCode !== null || box.signalCode !== null)
    await signals.until(() => log.includes(text) || hasEnded())
    if (!log.includes(text)) throw new Error(`a box of Kannel has ended: ${log.slice(-2_000)}`)
  }

  async function start(): Promise<void> {
    await writeFile(join(dir, 'kannel.conf'), `${coreGroups()}\n${groups}`)
    run(BEARERBOX)
    await logged('MAIN: Start-up done')
    run(SMSBOX)
    await logged('Connected to bearerbox')
    phones = connect(phonesPort, '127.0.0.1').on('error', () => {})
    createInterface({ input: phones }).on('line', line => {
      received.push(line)
      signals.notify()
    })
    await logged('client connected from')
  }

  function coreGroups(): string {
    return `group = core
admin-port = ${adminPort}
admin-interface = 127.0.0.1
admin-password = admin
smsbox-port = ${boxPort}
smsbox-interface = 127.0.0.1
box-allow-ip = 127.0.0.1

group = smsc
smsc = fake
smsc-id = phones
port = ${phonesPort}
connect-allow-ip = 127.0.0.1
allowed-prefix = "${prefix}"
`
  }

  function run(file: string): void {
    const child = spawn(file, ['-v', '0', 'kannel.conf'], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
    boxes.push(child)
    child.once('exit', signals.notify)
    child.stderr.setEncoding('latin1').on('data', (text: string) => {
      log += text
      signals.notify()
    })
  }

  async function stop(): Promise<void> {
    phones?.destroy()
    for (const box of boxes) await kill(box)
    await rm(dir, { recursive: true, force: true })
  }

  await start().catch(async error => {
    await stop()
    throw error
  })
  return {
    received,
    until: count => signals.until(() => received.length >= count),
    write: line => void phones!.write(`${line}\n`),
    logged,
    stop,
  }
}
