import { draftTemplate } from '../../src/core/templates/draft.ts'
import { type CompiledTemplate, joinParts, renderTemplate } from '../../src/core/templates/render.ts'
import { TEMPLATE } from './load.ts'
import { type Measured, measure, median } from './measure.ts'
import { type Figure, fixed, note, noteMeasured, perSecond } from './report.ts'
import { type System, startSystem } from './system.ts'

const ACCOUNTS = 100
const CONNECTIONS = 64
const ENDLESS = 10_000_000
/** Renders between two checks of the time. */
const RENDERS = 10_000

/** Templates that one core renders per second: an SMS, a chat message of three parts, and an HTML e-mail. */
export function measureRendering(quick: boolean): Figure[] {
  const seconds = quick ? 0.2 : 2
  const rates = Object.entries(TEMPLATES).map(([name, { template, values }]) => {
    renderFor(0.1, template, values)
    const rate = renderFor(seconds, template, values)
    note(`  rendering ${name.padEnd(8)} ${perSecond(rate).padStart(12)}`)
    return rate
  })
  const slowest = Math.min(...rates)
  return [
    {
      name: 'templates rendered on one core',
      measured: perSecond(slowest),
      baseline: 'the slowest kind',
      value: slowest,
      target: { least: 100_000 },
    },
  ]
}

const compiled = (body: object): CompiledTemplate =>
  draftTemplate({ name: 'bench', category: 'sms', subType: 'utility', ...body } as never, null).compiled

const TEMPLATES = {
  sms: { template: compiled({ content: TEMPLATE.content }), values: TEMPLATE.values },
  chat: {
    template: compiled({
      category: 'chatapp',
      headerType: 'text',
      headerValue: 'News of {{1}}',
      body: TEMPLATE.content,
      footer: 'Acme, Main Street 1, reply STOP to stop',
    }),
    values: TEMPLATE.values,
  },
  email: {
    template: compiled({
      category: 'email',
      emailSubject: 'Your parcel {{1}}',
      content: `<!doctype html><body>${`<p>Dear {{4}}, ${TEMPLATE.content}</p>`.repeat(10)}</body>`,
    }),
    values: [...TEMPLATE.values, `Tom & Jerry's "Shop"`],
  },
}

function renderFor(seconds: number, template: CompiledTemplate, values: readonly string[]): number {
  const startedMs = performance.now()
  let rendered = 0
  let letters = 0
  for (;;) {
    for (let at = 0; at < RENDERS; at++)
      letters += joinParts(template, renderTemplate(template, values)).length
    rendered += RENDERS
    const tookMs = performance.now() - startedMs
    // The result is used, so that the compiler cannot drop the work.
    if (tookMs >= seconds * 1_000) return letters > 0 ? (rendered * 1_000) / tookMs : 0
  }
}

/** Sends by template compared with sends of the same text, alternating on the same system. */
export async function measureTemplated(quick: boolean): Promise<Figure[]> {
  const system = await startSystem({ accounts: ACCOUNTS })
  try {
    const { template } = await system.admin<{ template: { id: string } }>('POST', '/templates', {
      name: 'bench',
      category: 'sms',
      subType: 'utility',
      content: TEMPLATE.content,
    })
    note(`Sends by template: ${CONNECTIONS} connections`)
    await stretch(system, quick ? 1 : 8, undefined)
    await stretch(system, 1, template.id)
    const rounds: Round[] = []
    for (let number = 1; number <= (quick ? 1 : 5); number++) {
      rounds.push(await measureRound(system, quick ? 2 : 4, template.id))
    }
    return [
      {
        name: 'sends by template',
        measured: perSecond(median(rounds.map(round => round.templated.perSecond))),
        baseline: `${perSecond(median(rounds.map(round => round.plain)))} plain`,
        value: median(rounds.map(round => round.ratio)),
        target: { least: 0.85 },
      },
      {
        // Other load on the machine affects it less than the rate.
        name: 'their CPU, Node and PostgreSQL',
        measured: `${fixed(median(rounds.map(({ templated }) => cpuOf(templated))), 0)} µs`,
        baseline: `${fixed(median(rounds.map(round => round.plainMicros)), 0)} µs plain`,
        value: median(rounds.map(({ templated, plainMicros }) => plainMicros / cpuOf(templated))),
        target: { least: 0.85 },
      },
    ]
  } finally {
    await system.stop()
  }
}

type Round = { plain: number; plainMicros: number; templated: Measured; ratio: number }

function cpuOf({ nodeMicros, postgresMicros }: Measured): number {
  return nodeMicros + postgresMicros
}

/** Plain sends before and after, so that other load on the machine affects both. */
async function measureRound(system: System, seconds: number, template: string): Promise<Round> {
  const before = await stretch(system, seconds, undefined)
  const templated = await stretch(system, seconds, template)
  const after = await stretch(system, seconds, undefined)
  const plain = (before.perSecond + after.perSecond) / 2
  noteMeasured('plain', before)
  noteMeasured('templated', templated)
  note(`  ${fixed(templated.perSecond / plain, 2)} of plain`)
  const plainMicros = (cpuOf(before) + cpuOf(after)) / 2
  return { plain, plainMicros, templated, ratio: templated.perSecond / plain }
}

function stretch(system: System, seconds: number, template: string | undefined): Promise<Measured> {
  return measure(system, {
    keys: system.keys,
    connections: CONNECTIONS,
    requests: ENDLESS,
    seconds,
    ...(template !== undefined && { template }),
  })
}
