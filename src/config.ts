import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { parseAllowedHost } from './infra/guarded-fetch/target.ts'
import type { LogLevel } from './infra/log.ts'
import { DAY_MS, HOUR_MS } from './lib/durations.ts'
import { Refusal } from './lib/refusal.ts'

/** The configuration from the environment, with defaults. */
export type Config = {
  /** HOST: the address to listen on. */
  host: string
  /** PORT: 0 means any free port. */
  port: number
  /** POSTHORN_DATA_DIR, absolute: the embedded database, media, generated secrets. */
  dataDir: string
  /** DATABASE_URL: a PostgreSQL server instead of the embedded one. */
  databaseUrl: string | undefined
  /** POSTHORN_DB_POOL: connections to the database. */
  databasePool: number
  /** POSTHORN_OPERATOR_TOKEN: generated and kept in the data directory when absent. */
  operatorToken: string | undefined
  /** POSTHORN_MASTER_KEY: 32 bytes; generated and kept in the data directory when absent. */
  masterKey: Buffer | undefined
  /** POSTHORN_MASTER_KEY_PREVIOUS: the earlier key, used only to decrypt. */
  masterKeyPrevious: Buffer | undefined
  /** POSTHORN_PUBLIC_URL without a final slash: the URL at which providers and browsers reach us. */
  publicUrl: string | undefined
  /** POSTHORN_TRUSTED_PROXIES: addresses and networks of proxies whose forwarding headers are trusted. */
  trustedProxies: readonly string[]
  /** POSTHORN_ALLOW_PRIVATE_HOSTS: private hosts that user-given URLs may have. */
  allowPrivateHosts: readonly string[]
  /** POSTHORN_SANDBOX: live keys use the sandbox where a channel has no connection yet. */
  sandbox: boolean
  /** POSTHORN_LOG_LEVEL. */
  logLevel: LogLevel
  /** POSTHORN_SYNC_WAIT_MS: how long a single send waits for the provider. */
  syncWaitMs: number
  /** POSTHORN_UNKNOWN_DEADLINE_HOURS, in ms: when an unknown outcome counts as sent. */
  unknownDeadlineMs: number
  /** POSTHORN_EVENTS_KEEP_DAYS, in ms: how long events and their deliveries are kept at least; null for ever. */
  eventsKeepMs: number | null
  /** POSTHORN_INBOUND_KEEP_DAYS, in ms: the same for inbound messages. */
  inboundKeepMs: number | null
  /** POSTHORN_MEDIA_KEEP_HOURS, in ms: how long an uploaded file is kept that nothing uses. */
  mediaKeepMs: number
  /** POSTHORN_MEDIA_ACCOUNT_MB, in bytes: most bytes of an account's uploaded files together. */
  mediaAccountBytes: number
  /** POSTHORN_BULK_MAX_MB, in bytes: the largest body of a bulk job. */
  bulkMostBytes: number
  /** POSTHORN_BULK_TIMEOUT_SECONDS, in ms: how long such a body may take to arrive. */
  bulkTimeoutMs: number
  /** POSTHORN_BULK_KEEP_DAYS, in ms: how long ended jobs and their rows are kept at least; null for ever. */
  bulkKeepMs: number | null
  /** POSTHORN_MEDIA_S3_…: a bucket for uploaded files instead of the data directory. */
  mediaBucket: MediaBucket | undefined
}

export type MediaBucket = {
  bucket: string
  region: string
  /** Amazon's endpoint if undefined. */
  endpoint: string | undefined
  /** If undefined, the credentials that the machine has: a role, a profile. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined
  pathStyle: boolean
}

type Env = Readonly<Record<string, string | undefined>>
/** Parses one value; the message of its error completes the sentence "NAME …". */
type Read<T> = (text: string) => T

const LOG_LEVELS: readonly LogLevel[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
/** A delivery is retried for three days, and an endpoint is disabled after five days of failures. */
const MIN_EVENTS_DAYS = 7
const MAX_DAYS = 36_500

/**
 * Reads the environment; nothing else does. An empty value counts as absent. Reports all invalid values at
 * once, by name, and never repeats a value that may be a secret.
 */
export function readConfig(env: Env = process.env): Config {
  const { read, wrong, check } = createReader(env)
  const config: Config = {
    host: read('HOST', readHost, '127.0.0.1'),
    port: read('PORT', wholeNumber(0, 65_535), 8080),
    dataDir: read('POSTHORN_DATA_DIR', readPath, resolve('data')),
    databaseUrl: read('DATABASE_URL', readDatabaseUrl, undefined),
    databasePool: read('POSTHORN_DB_POOL', wholeNumber(2, 500), 10),
    operatorToken: read('POSTHORN_OPERATOR_TOKEN', readToken, undefined),
    masterKey: read('POSTHORN_MASTER_KEY', readMasterKey, undefined),
    masterKeyPrevious: read('POSTHORN_MASTER_KEY_PREVIOUS', readMasterKey, undefined),
    publicUrl: read('POSTHORN_PUBLIC_URL', readBaseUrl, undefined),
    trustedProxies: read('POSTHORN_TRUSTED_PROXIES', readNetworks, []),
    allowPrivateHosts: read('POSTHORN_ALLOW_PRIVATE_HOSTS', readHosts, []),
    sandbox: read('POSTHORN_SANDBOX', oneOf(['on', 'off']), 'on') === 'on',
    logLevel: read('POSTHORN_LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
    syncWaitMs: read('POSTHORN_SYNC_WAIT_MS', wholeNumber(0, 60_000), 2_000),
    unknownDeadlineMs: read('POSTHORN_UNKNOWN_DEADLINE_HOURS', numberUpTo(720), 24) * HOUR_MS,
    eventsKeepMs: read('POSTHORN_EVENTS_KEEP_DAYS', daysOrForEver(MIN_EVENTS_DAYS), 30 * DAY_MS),
    inboundKeepMs: read('POSTHORN_INBOUND_KEEP_DAYS', daysOrForEver(1), null),
    mediaKeepMs: read('POSTHORN_MEDIA_KEEP_HOURS', numberUpTo(8_760), 24) * HOUR_MS,
    mediaAccountBytes: read('POSTHORN_MEDIA_ACCOUNT_MB', wholeNumber(1, 100_000_000), 20_480) * 1_048_576,
    bulkMostBytes: read('POSTHORN_BULK_MAX_MB', wholeNumber(1, 65_536), 2_048) * 1_048_576,
    bulkTimeoutMs: read('POSTHORN_BULK_TIMEOUT_SECONDS', wholeNumber(10, 86_400), 300) * 1_000,
    bulkKeepMs: read('POSTHORN_BULK_KEEP_DAYS', daysOrForEver(1), 30 * DAY_MS),
    mediaBucket: readMediaBucket({ read, wrong }),
  }
  if (!config.databaseUrl && config.databasePool > EMBEDDED_POOL_LIMIT) {
    wrong.push(`POSTHORN_DB_POOL must be at most ${EMBEDDED_POOL_LIMIT} with the embedded database`)
  }
  check()
  return config
}

/** An incomplete configuration is refused, since files in the wrong place would be noticed too late. */
function readMediaBucket({ read, wrong }: Reader): MediaBucket | undefined {
  const bucket = read(`${S3}BUCKET`, readBucketName, undefined)
  const endpoint = read(`${S3}ENDPOINT`, readBaseUrl, undefined)
  const accessKeyId = read(`${S3}ACCESS_KEY_ID`, readToken, undefined)
  const secretAccessKey = read(`${S3}SECRET_ACCESS_KEY`, readToken, undefined)
  const region = read(`${S3}REGION`, readRegion, undefined)
  const pathStyle = read(`${S3}PATH_STYLE`, oneOf(['on', 'off']), undefined)
  if (bucket === undefined) {
    const given = [endpoint, accessKeyId, secretAccessKey, region, pathStyle].some(each => each !== undefined)
    if (given) wrong.push(`${S3}BUCKET must be set with the other ${S3}… variables`)
    return undefined
  }
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    wrong.push(`${S3}ACCESS_KEY_ID and ${S3}SECRET_ACCESS_KEY must be set together`)
  }
  return {
    bucket,
    region: region ?? 'us-east-1',
    endpoint,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
    // Other stores than Amazon's seldom have a host name per bucket.
    pathStyle: (pathStyle ?? (endpoint === undefined ? 'off' : 'on')) === 'on',
  }
}

const S3 = 'POSTHORN_MEDIA_S3_'

/** The configuration of commands that call a server. */
export type ClientConfig = {
  /** POSTHORN_URL without a final slash; by default the server on this machine. */
  url: string
  /** POSTHORN_OPERATOR_TOKEN; if undefined, the one in the data directory. */
  operatorToken: string | undefined
  /** POSTHORN_API_KEY. */
  apiKey: string | undefined
  /** POSTHORN_DATA_DIR, absolute. */
  dataDir: string
}

/** Reads the configuration of a client command; reports invalid values in the same way. */
export function readClientConfig(env: Env = process.env): ClientConfig {
  const { read, check } = createReader(env)
  const host = read('HOST', readHost, '127.0.0.1')
  const port = read('PORT', wholeNumber(0, 65_535), 8080)
  const config: ClientConfig = {
    url: read('POSTHORN_URL', readBaseUrl, localUrl(host, port)),
    operatorToken: read('POSTHORN_OPERATOR_TOKEN', readToken, undefined),
    apiKey: read('POSTHORN_API_KEY', readToken, undefined),
    dataDir: read('POSTHORN_DATA_DIR', readPath, resolve('data')),
  }
  check()
  return config
}

/** A server on all addresses is reached by the loopback address. */
function localUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

type Reader = Pick<ReturnType<typeof createReader>, 'read' | 'wrong'>

/** Reads values one by one, collects the errors, and reports them together. */
function createReader(env: Env) {
  const errors: string[] = []

  function read<T, D>(name: string, parse: Read<T>, absent: D): T | D {
    const text = env[name]?.trim()
    if (text === undefined || text === '') return absent
    try {
      return parse(text)
    } catch (error) {
      errors.push(`${name} ${(error as Error).message}`)
      return absent
    }
  }

  function check(): void {
    if (errors.length > 0) throw new Refusal(`Wrong settings: ${errors.join('; ')}.`, { exitCode: 2 })
  }

  return { read, wrong: errors, check }
}

/** The embedded server allows 64 connections; listeners, locks and a person with psql need some. */
const EMBEDDED_POOL_LIMIT = 48

function wholeNumber(least: number, most: number): Read<number> {
  return text => {
    const value = parseWhole(text, least, most)
    if (value !== undefined) return value
    throw new Error(`must be a whole number from ${least} to ${most}, not "${text}"`)
  }
}

function parseWhole(text: string, least: number, most: number): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value >= least && value <= most ? value : undefined
}

function numberUpTo(most: number): Read<number> {
  return text => {
    const value = Number(text)
    if (/^\d+(\.\d+)?$/.test(text) && value > 0 && value <= most) return value
    throw new Error(`must be a number above 0 and at most ${most}, not "${text}"`)
  }
}

/** In ms; null for `forever`. */
function daysOrForEver(least: number): Read<number | null> {
  return text => {
    if (text === 'forever') return null
    const days = parseWhole(text, least, MAX_DAYS)
    if (days !== undefined) return days * DAY_MS
    throw new Error(`must be "forever" or a whole number from ${least} to ${MAX_DAYS}, not "${text}"`)
  }
}

function oneOf<const T extends string>(words: readonly T[]): Read<T> {
  return text => {
    const word = words.find(known => known === text)
    if (word !== undefined) return word
    throw new Error(`must be one of ${words.join(', ')}, not "${text}"`)
  }
}

function readHost(text: string): string {
  if (/^[A-Za-z0-9.:_%-]+$/.test(text)) return text
  throw new Error(`must be an address or a host name to listen on, not "${text}"`)
}

function readPath(text: string): string {
  if (text.includes('\0')) throw new Error('must be a directory')
  return resolve(text)
}

/** Before the path or as `host`; a user or a password may have a comma. */
const SEVERAL_HOSTS = /^\w+:\/\/([^?]*@)?[^@/?]*,[^@/?]*([/?]|$)|[?&]host=[^&]*(,|%2C)/i

function readDatabaseUrl(text: string): string {
  if (SEVERAL_HOSTS.test(text)) {
    throw new Error('must name one host: the address of the server that accepts writes')
  }
  // A socket's URL names no host: postgresql://user@/database?host=/run/postgresql
  const url = URL.parse(text.replace('@/', '@localhost/'))
  if (url && /^postgres(ql)?:$/.test(url.protocol)) return text
  throw new Error('must be a URL such as postgresql://user:password@host:5432/database')
}

function readToken(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text
  throw new Error('must be visible ASCII without spaces')
}

function readMasterKey(text: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  const key = Buffer.from(text, 'base64')
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text) && key.length === 32) return key
  throw new Error('must be 32 bytes, as 64 hexadecimal digits or as base64 (openssl rand -hex 32)')
}

/** An address that paths are appended to, without a final slash. The value may contain a password, so errors omit it. */
export function readBaseUrl(text: string): string {
  const url = URL.parse(text)
  const plain = url && !url.search && !url.hash && !url.username && !url.password
  if (plain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '')
  throw new Error('must be an http or https URL without user, query and fragment')
}

function readBucketName(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)) return text
  throw new Error(`must be the name of a bucket, not "${text}"`)
}

function readRegion(text: string): string {
  if (/^[a-z0-9-]{1,50}$/.test(text)) return text
  throw new Error(`must be a region such as eu-central-1, not "${text}"`)
}

function readNetworks(text: string): string[] {
  const networks = readList(text)
  const wrong = networks.find(each => !ipaddr.isValid(each) && !ipaddr.isValidCIDR(each))
  if (wrong === undefined) return networks
  throw new Error(
    `must be a comma-separated list of addresses or networks such as 10.0.0.0/8, not "${wrong}"`,
  )
}

function readHosts(text: string): string[] {
  const hosts = readList(text)
  for (const host of hosts) parseHost(host)
  return hosts
}

function readList(text: string): string[] {
  const entries = text.split(',').map(entry => entry.trim())
  return entries.filter(entry => entry !== '')
}

function parseHost(host: string): void {
  try {
    parseAllowedHost(host)
  } catch (error) {
    throw new Error(`must be a comma-separated list of hosts or addresses: ${(error as Error).message}`)
  }
}
