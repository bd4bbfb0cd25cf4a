import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The state of a lane at a scrape. */
export type LaneLoad = {
  connection: string
  provider: string
  up: boolean
  circuit: 'closed' | 'open' | 'half_open'
  inFlight: number
  waiting: number
}

/** Gauges that are read at a scrape; absent ones are left out. */
export type Readings = {
  /** Lanes of this node. */
  lanes?: () => readonly LaneLoad[]
  /** Due messages that no node has claimed, and messages of unknown outcome; called once per scrape. */
  outbox?: () => Promise<{ waiting: number; unknown: number }>
  /** Callbacks that wait for their next attempt or for capacity. */
  callbacksWaiting?: () => Promise<number>
}

export type Metrics = {
  /** A response that was sent completely; `route` is the route's pattern, never the path. */
  httpRequest(method: string, route: string, status: number, seconds: number): void
  /** An attempt to send a message that has an outcome. */
  attempt(channel: string, provider: string, outcome: string): void
  /** The time from accepting a message until its outcome is known. */
  settled(channel: string, seconds: number): void
  /** The number of items of one coalesced call to the database. */
  batch(name: string, items: number): void
  /** A delivery report: `applied`, or `no change` if it is late, repeated, or for an unknown message. */
  receipt(status: string, fate: string): void
  /** A status query to a provider about a message of unknown outcome, by its result. */
  lookup(provider: string, outcome: string): void
  /** An attempt of a callback: `delivered`, `pending` (will be repeated) or `failed`. */
  callback(kind: string, outcome: string): void
  /**
   * A verification code that a rule of the fraud guard refused (`blocked`), or would have in monitor mode
   * (`monitored`).
   */
  verificationBlock(rule: string, action: string): void
  /** Adds gauges; replaces those of the same name. */
  read(readings: Readings): void
  /** The metrics in the Prometheus exposition format; concurrent calls share one result. */
  render(): Promise<{ contentType: string; body: string }>
}

const PREFIX = 'posthorn_'
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const SETTLE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const ITEMS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** All metrics of the process, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: PREFIX })

  const requests = new Counter({
    name: `${PREFIX}http_requests_total`,
    help: 'HTTP requests that got a response.',
    labelNames: ['method', 'route', 'status'] as const,
    registers,
  })
  const durations = new Histogram({
    name: `${PREFIX}http_request_duration_seconds`,
    help: 'Time from the request head to the last byte of the response.',
    labelNames: ['method', 'route'] as const,
    buckets: SECONDS,
    registers,
  })
  const attempts = new Counter({
    name: `${PREFIX}attempts_total`,
    help: 'Attempts to submit a message to a provider, by outcome.',
    labelNames: ['channel', 'provider', 'outcome'] as const,
    registers,
  })
  const settleSeconds = new Histogram({
    name: `${PREFIX}settle_duration_seconds`,
    help: 'Time from the acceptance of a message to its outcome.',
    labelNames: ['channel'] as const,
    buckets: SETTLE_SECONDS,
    registers,
  })
  const batchItems = new Histogram({
    name: `${PREFIX}batch_items`,
    help: 'Items per coalesced call to the database.',
    labelNames: ['batch'] as const,
    buckets: ITEMS,
    registers,
  })
  const receipts = new Counter({
    name: `${PREFIX}receipts_total`,
    help: 'Delivery reports from providers, by result.',
    labelNames: ['status', 'fate'] as const,
    registers,
  })
  const callbacks = new Counter({
    name: `${PREFIX}callbacks_total`,
    help: 'Attempts to call a webhook endpoint or a sender callback, by outcome.',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  })
  const lookups = new Counter({
    name: `${PREFIX}lookups_total`,
    help: 'Queries to providers for the outcome of unknown messages, by result.',
    labelNames: ['provider', 'outcome'] as const,
    registers,
  })
  const verificationBlocks = new Counter({
    name: `${PREFIX}verification_blocks_total`,
    help: 'Verification codes that the fraud guard blocked, or would have blocked in monitor mode, by rule.',
    labelNames: ['rule', 'action'] as const,
    registers,
  })
  const readings = createReadings(registry)
  // Anyone may ask for them, without a key or a limit, and each reading takes the thread milliseconds.
  const render = shared(async () => ({ contentType: registry.contentType, body: await registry.metrics() }))

  // Looking up a metric by its labels costs more than counting, so the result is cached for each combination.
  const requestOf = memo((method, route, status) => requests.labels(method, route, status))
  const durationOf = memo((method, route) => durations.labels(method, route))
  const attemptOf = memo((channel, provider, outcome) => attempts.labels(channel, provider, outcome))
  const settleOf = memo(channel => settleSeconds.labels(channel))
  const batchOf = memo(name => batchItems.labels(name))
  const receiptOf = memo((status, fate) => receipts.labels(status, fate))
  const lookupOf = memo((provider, outcome) => lookups.labels(provider, outcome))
  const callbackOf = memo((kind, outcome) => callbacks.labels(kind, outcome))

  return {
    httpRequest(method, route, status, seconds) {
      requestOf(method, route, String(status)).inc()
      durationOf(method, route).observe(seconds)
    },
    attempt: (channel, provider, outcome) => attemptOf(channel, provider, outcome).inc(),
    settled: (channel, seconds) => settleOf(channel).observe(seconds),
    batch: (name, items) => batchOf(name).observe(items),
    receipt: (status, fate) => receiptOf(status, fate).inc(),
    lookup: (provider, outcome) => lookupOf(provider, outcome).inc(),
    callback: (kind, outcome) => callbackOf(kind, outcome).inc(),
    verificationBlock: (rule, action) => verificationBlocks.labels(rule, action).inc(),
    read: readings.add,
    render,
  }
}

const CIRCUIT_VALUE = { closed: 0, half_open: 0.5, open: 1 }

/** The gauges that are read at a scrape. */
function createReadings(registry: Registry): { add(readings: Readings): void } {
  const held: Readings = {}
  const registers = [registry]
  const laneGauge = (name: string, help: string, value: (lane: LaneLoad) => number) =>
    new Gauge({
      name: PREFIX + name,
      help,
      labelNames: ['connection', 'provider'] as const,
      registers,
      collect() {
        this.reset()
        for (const lane of held.lanes?.() ?? []) {
          this.set({ connection: lane.connection, provider: lane.provider }, value(lane))
        }
      },
    })
  laneGauge('lane_up', 'Whether the connection to the provider is up.', lane => Number(lane.up))
  laneGauge(
    'circuit_open',
    'State of the circuit breaker: 1 open, 0.5 half open (one message tests it), 0 closed.',
    lane => CIRCUIT_VALUE[lane.circuit],
  )
  laneGauge(
    'lane_in_flight',
    'Messages submitted to the provider that have no response yet.',
    lane => lane.inFlight,
  )
  laneGauge('lane_waiting', 'Messages that wait for a free slot in the lane.', lane => lane.waiting)

  const depthGauge = (name: string, help: string, read: () => Promise<number | undefined>) =>
    new Gauge({
      name: PREFIX + name,
      help,
      registers,
      async collect() {
        // If the database is away, the other metrics must still be rendered.
        const value = await read().catch(() => undefined)
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  const outbox = shared(async () => held.outbox?.())
  depthGauge(
    'outbox_depth',
    'Messages that are due and not claimed by any node.',
    async () => (await outbox())?.waiting,
  )
  depthGauge(
    'unknown_messages',
    'Messages whose outcome is still unknown.',
    async () => (await outbox())?.unknown,
  )
  depthGauge('callbacks_waiting', 'Callbacks that wait for their time or for a free slot.', async () =>
    held.callbacksWaiting?.(),
  )

  return { add: readings => void Object.assign(held, readings) }
}

/** Concurrent calls share one result. */
function shared<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return () => {
    running ??= look().finally(() => {
      running = null
    })
    return running
  }
}

/** Caches `find` by its labels; the code bounds the number of combinations. */
function memo<T>(find: (...labels: string[]) => T): (...labels: string[]) => T {
  const known = new Map<string, T>()
  return (...labels) => {
    const key = labels.length === 1 ? labels[0]! : labels.join('\n')
    const held = known.get(key)
    if (held !== undefined) return held
    const found = find(...labels)
    known.set(key, found)
    return found
  }
}
