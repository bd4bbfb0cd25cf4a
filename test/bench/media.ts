import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pdf } from '../support/files.ts'
import { type Child, startChild } from './child.ts'
import { residentMb } from './cpu.ts'
import { type Figure, fixed, note } from './report.ts'
import { pause, type System, startSystem } from './system.ts'

const GRAPH_SINK = fileURLToPath(new URL('./graph-sink.ts', import.meta.url))
const MB = 1024 * 1024
const FILE_BYTES = 100 * MB - 64 * 1024
/** The size of a first file, which is not measured: it makes the program load the code that it needs. */
const WARM_UP_BYTES = MB
/** Time for earlier garbage to be collected. */
const SETTLE_MS = 5_000
const MAX_GROWTH_MB = 32

/**
 * The peak growth of the Node process while a document of 100 MB is uploaded, and while it is sent to
 * WhatsApp. (An e-mail is held in memory as a whole, but has at most 40 MB, since receivers accept less.)
 */
export async function measureMedia(): Promise<Figure[]> {
  note('A document of 100 MB')
  const sink = await startChild(GRAPH_SINK)
  const system = await startSystem({ accounts: 1 })
  try {
    await connectGraph(system, sink)
    const templateId = await createTemplate(system)
    await sendFile(system, sink, templateId, await upload(system, WARM_UP_BYTES))
    await pause(SETTLE_MS)
    let assetId = ''
    const uploaded = await growth(system.pid, async () => {
      assetId = await upload(system, FILE_BYTES)
    })
    await pause(SETTLE_MS)
    const sent = await growth(system.pid, () => sendFile(system, sink, templateId, assetId))
    return [toFigure('100 MB uploaded', uploaded), toFigure('100 MB sent', sent)]
  } finally {
    await system.stop()
    await sink.stop()
  }
}

type Growth = { fromMb: number; toMb: number; seconds: number }

/**
 * Resident memory before `work`, and its peak during it: the kernel's high-water mark, which is reset first.
 */
async function growth(pid: number, work: () => Promise<void>): Promise<Growth> {
  const startedMs = performance.now()
  const fromMb = residentMb(pid)
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  await work()
  const seconds = (performance.now() - startedMs) / 1_000
  return { fromMb, toMb: highestMb(pid), seconds }
}

function highestMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)![1]) / 1024
}

function toFigure(name: string, { fromMb, toMb, seconds }: Growth): Figure {
  note(`  ${name} in ${fixed(seconds, 1)} s: from ${fixed(fromMb, 0)} MB to ${fixed(toMb, 0)} MB`)
  return {
    name: `memory, ${name}`,
    measured: `${fixed(toMb, 0)} MB`,
    baseline: `${fixed(fromMb, 0)} MB`,
    value: toMb - fromMb,
    unit: ' MB',
    target: { most: MAX_GROWTH_MB },
  }
}

async function connectGraph(system: System, sink: Child): Promise<void> {
  const { port } = sink.ready as { port: number }
  await system.admin('POST', '/connections', {
    provider: 'whatsapp-cloud',
    name: 'graph',
    channels: ['official_chatapp'],
    config: {
      baseUrl: `http://127.0.0.1:${port}`,
      phoneNumberId: '1',
      businessAccountId: '2',
      appId: '3',
      accessToken: 'bench',
      appSecret: 'bench',
      verifyToken: 'bench',
    },
  })
}

/** A template whose header is a document that each send provides. */
async function createTemplate(system: System): Promise<string> {
  const form = new FormData()
  const fields = {
    name: 'large_file',
    category: 'chatapp',
    subType: 'utility',
    language: 'en',
    body: 'Here it is.',
  }
  for (const [name, text] of Object.entries({ ...fields, provider: 'official_provider' }))
    form.set(name, text)
  form.set('headerMedia', blobOf(1_000), 'sample.pdf')
  const answer = await system.post('/templates', form)
  if (answer.status !== 201)
    throw new Error(`the template was answered ${answer.status}: ${await answer.text()}`)
  const { data } = (await answer.json()) as { data: { template: { id: string } } }
  return data.template.id
}

async function upload(system: System, bytes: number): Promise<string> {
  const form = new FormData()
  form.set('file', blobOf(bytes), 'large.pdf')
  const answer = await system.post('/templates/media', form)
  if (answer.status !== 201)
    throw new Error(`the upload was answered ${answer.status}: ${await answer.text()}`)
  const { data } = (await answer.json()) as { data: { asset: { id: string } } }
  return data.asset.id
}

function blobOf(bytes: number): Blob {
  return new Blob([new Uint8Array(pdf(bytes))], { type: 'application/pdf' })
}

/** Sends the file; resolves when the sink has received it and the message. */
async function sendFile(system: System, sink: Child, templateId: string, assetId: string): Promise<void> {
  const before = await readCounts(sink)
  const answer = await system.call('POST', '/messages/send', {
    channel: 'official_chatapp',
    to: '+4915112345678',
    template: { id: templateId, headerAssetId: assetId },
  })
  if (answer.status !== 200) throw new Error(`the send was answered ${answer.status}: ${await answer.text()}`)
  for (;;) {
    const { messages, files } = await readCounts(sink)
    if (messages > before.messages && files > before.files) return
    await pause(20)
  }
}

async function readCounts(sink: Child): Promise<{ messages: number; files: number }> {
  return (await sink.ask('stats')) as { messages: number; files: number }
}
