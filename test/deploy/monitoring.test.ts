import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/infra/metrics.ts'
import { startTestApp, type TestApp } from '../support/app.ts'

/** The alerts and the dashboard use only metrics and labels that the program exposes. */

const ALERTS = 'deploy/prometheus/alerts.yaml'
const DASHBOARD = 'deploy/grafana/posthorn.json'

type Panel = {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { refId: string; expr: string; legendFormat: string }[]
}
const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }
const targets = panels.flatMap(panel => panel.targets)
const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/^ +expr: (.+)$/gm)].map(([, expr]) => expr!)
const queries = [...alerts, ...targets.map(target => target.expr.replaceAll('$__rate_interval', '5m'))]

const hasPromtool = spawnSync('promtool', ['--version']).status === 0
if (!hasPromtool) console.warn('SKIPPED: promtool is missing; apt-get install -y prometheus')

/** The labels of each series, by its name, in a Prometheus exposition. */
function readSeries(exposition: string): Map<string, Set<string>> {
  const series = new Map<string, Set<string>>()
  for (const [, name, labels = ''] of exposition.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = series.get(name!) ?? new Set()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!)
    series.set(name!, known)
  }
  return series
}

/** An exposition with every metric of this project and every label that it can have. */
async function exposeAll(): Promise<string> {
  const metrics = createMetrics()
  metrics.httpRequest('GET', '/', 200, 1)
  metrics.attempt('int_sms', 'smpp', 'accepted')
  metrics.settled('int_sms', 1)
  metrics.batch('accept', 1)
  metrics.receipt('delivered', 'applied')
  metrics.lookup('smpp', 'accepted')
  metrics.callback('webhook', 'delivered')
  metrics.verificationBlock('rule', 'blocked')
  metrics.read({
    lanes: () => [
      { connection: 'con', provider: 'smpp', up: true, circuit: 'closed', inFlight: 0, waiting: 0 },
    ],
    outbox: async () => ({ waiting: 0, unknown: 0 }),
    callbacksWaiting: async () => 0,
  })
  return (await metrics.render()).body
}

/** The metric names in a query, and the labels by which it filters, groups or matches. */
function readQuery(expr: string): { names: string[]; labels: string[] } {
  const names = [...new Set(expr.match(/\b(?:posthorn_\w+|up\b)/g))]
  const chosen = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner]) =>
    [...inner!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!),
  )
  const grouped = [...expr.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, inner]) =>
    inner!.split(',').map(label => label.trim()),
  )
  return { names, labels: [...chosen, ...grouped] }
}

describe('the Prometheus queries', () => {
  let app: TestApp
  let exposed: Map<string, Set<string>>
  let types: string
  beforeAll(async () => {
    app = await startTestApp()
    types = await (await fetch(`${app.url}/metrics`)).text()
    exposed = readSeries(await exposeAll())
    // Prometheus adds these labels to each scrape.
    for (const labels of exposed.values()) for (const label of ['instance', 'job']) labels.add(label)
    exposed.set('up', new Set(['instance', 'job']))
  })
  afterAll(() => app.stop())

  test('are found in all 6 alerts and 17 panels', () => {
    expect(alerts).toHaveLength(6)
    expect(panels).toHaveLength(17)
  })

  test.each(queries)('use only existing metrics and labels: %s', expr => {
    const { names, labels } = readQuery(expr)
    expect(names).not.toEqual([])
    for (const name of names) {
      expect([...(exposed.get(name) ?? [`no metric ${name}`])]).toEqual(expect.arrayContaining(labels))
      // The running program exposes the metric, too.
      const family = name.replace(/_(?:bucket|sum|count)$/, '')
      if (name !== 'up') expect(types).toMatch(new RegExp(`^# TYPE (?:${name}|${family}) `, 'm'))
    }
  })

  test.each(targets)('keep every label that the legend $legendFormat uses', ({ expr, legendFormat }) => {
    const { names } = readQuery(expr)
    const left = / by \(/.test(expr) ? readQuery(expr).labels : [...exposed.get(names[0]!)!]
    const written = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
    expect(left).toEqual(expect.arrayContaining(written))
  })

  test('show every metric of this project on the dashboard', () => {
    const shown = targets.map(target => target.expr).join('\n')
    const families = [...types.matchAll(/^# TYPE (posthorn_\w+) /gm)].map(([, name]) => name!)
    const missing = families.filter(
      name => !/^posthorn_(?:process|nodejs)_/.test(name) && !shown.includes(name),
    )
    expect(families.length).toBeGreaterThan(15)
    expect(missing).toEqual([])
  })

  test('are in panels with distinct ids that do not overlap', () => {
    expect(new Set(panels.map(panel => panel.id)).size).toBe(panels.length)
    const squares = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    expect(new Set(squares).size).toBe(squares.length)
    expect(Math.max(...panels.map(({ gridPos }) => gridPos.x + gridPos.w))).toBe(24)
  })
})

describe.skipIf(!hasPromtool)('promtool', () => {
  test('finds that each alert fires when it should, and only then', () => {
    expect(
      execFileSync('promtool', ['test', 'rules', 'test/deploy/alerts.test.yaml'], { encoding: 'utf8' }),
    ).toContain('SUCCESS')
  })

  test('parses every query', () => {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-queries-'))
    try {
      const file = join(directory, 'queries.yaml')
      const rules = queries.map((expr, at) => ({ record: `query_${at}`, expr }))
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }))
      expect(execFileSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })).toContain(
        `${queries.length} rules found`,
      )
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
