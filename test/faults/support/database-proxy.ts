import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What the proxy does with the traffic between the program and its database. */
export type Line =
  | 'open'
  /** All connections are cut, including new ones. */
  | 'cut'
  /** Nothing passes, on old and new connections, as if the database hangs. */
  | 'hung'
  /** Queries arrive and are executed, but no response comes back. */
  | 'deaf'

export type DatabaseProxy = {
  /** The database's URL with the address of the proxy. */
  url: string
  set(line: Line): void
  /** Existing connections become half-open; new ones work. */
  killHalfway(): void
  /** From the next query that contains these words, the line is `deaf`; that query still arrives. */
  deafenAt(words: string): void
  /**
   * Loses the next query that contains these words before it arrives, or its response (`after`); resolves
   * when it has.
   */
  loseAt(words: string, when: 'before' | 'after'): Promise<void>
  /**
   * Loses the response to every query that contains these words until `stop`; `first` resolves when it has
   * lost one.
   */
  loseEvery(words: string): { first: Promise<void>; stop(): void }
  /** Loses the next response that contains these words; resolves when it has. */
  loseAnswer(words: string): Promise<void>
  close(): Promise<void>
}

/** `losesAnswer` is called instead of passing the next response on. */
type Pair = { near: Socket; far: Socket; dead: boolean; losesAnswer: (() => void) | null }

/**
 * A TCP proxy for PostgreSQL, or any other server. A connection on which bytes were lost passes nothing any
 * more.
 */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = targetOf(new URL(databaseUrl))
  const pairs = new Set<Pair>()
  let line: Line = 'open'
  let deafenAt: string | null = null
  let doomed: { words: string; lost(): void } | null = null
  let marked: { words: string; when: 'before' | 'after'; again?: true; lost(): void } | null = null

  const server = createServer(near => {
    if (line === 'cut') return void near.resetAndDestroy()
    const pair: Pair = { near, far: connect(target), dead: false, losesAnswer: null }
    pairs.add(pair)
    near.on('data', bytes => {
      if (deafenAt !== null && asks(bytes, deafenAt)) {
        deafenAt = null
        line = 'deaf'
      }
      if (line === 'hung') pair.dead = true
      mark(pair, bytes)
      if (!pair.dead || line === 'deaf') pair.far.write(bytes)
    })
    pair.far.on('data', bytes => {
      if (line === 'hung' || line === 'deaf' || dooms(bytes) || pair.losesAnswer) pair.dead = true
      pair.losesAnswer?.()
      pair.losesAnswer = null
      if (!pair.dead) near.write(bytes)
    })
    for (const [one, other] of [
      [near, pair.far],
      [pair.far, near],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => {
        other.destroy()
        pairs.delete(pair)
      })
    }
  })
  function mark(pair: Pair, bytes: Buffer): void {
    if (!marked || !asks(bytes, marked.words)) return
    const { when, again, lost } = marked
    if (!again) marked = null
    if (when === 'after') pair.losesAnswer = lost
    else {
      pair.dead = true
      lost()
    }
  }

  function dooms(bytes: Buffer): boolean {
    if (!doomed || !bytes.includes(doomed.words)) return false
    doomed.lost()
    doomed = null
    return true
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: throughProxy(databaseUrl, (server.address() as AddressInfo).port),
    set(next) {
      line = next
      if (next === 'cut') for (const { near } of pairs) near.resetAndDestroy()
    },
    killHalfway() {
      for (const pair of pairs) pair.dead = true
    },
    deafenAt(words) {
      deafenAt = words
    },
    loseAt: (words, when) =>
      new Promise(lost => {
        marked = { words, when, lost }
      }),
    loseEvery(words) {
      const { promise: first, resolve: lost } = Promise.withResolvers<void>()
      marked = { words, when: 'after', again: true, lost }
      return {
        first,
        stop() {
          marked = null
        },
      }
    },
    loseAnswer: words =>
      new Promise(lost => {
        doomed = { words, lost }
      }),
    async close() {
      for (const { near, far } of pairs) {
        near.destroy()
        far.destroy()
      }
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Whether these bytes contain the words. The check for a newer schema, which runs each second, does not
 * count: it contains the names of all function files.
 */
function asks(bytes: Buffer, words: string): boolean {
  return bytes.includes(words) && !bytes.includes(`${words}.sql`)
}

function throughProxy(databaseUrl: string, port: number): string {
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  url.searchParams.delete('host')
  url.searchParams.delete('port')
  return url.href
}

function targetOf(url: URL): { path: string } | { host: string; port: number } {
  const socketDir = url.searchParams.get('host')
  const port = Number(url.searchParams.get('port') || url.port || 5432)
  return socketDir ? { path: `${socketDir}/.s.PGSQL.${port}` } : { host: url.hostname, port }
}
