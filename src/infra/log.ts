import { type DestinationStream, type Logger, pino } from 'pino'
import { createOutput } from './log-output.ts'
import { createPrettyStream } from './log-pretty.ts'

/** The log of the process. Most code uses the narrower `Log` of lib. */
export type { Logger }
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

export type LogOptions = {
  level: LogLevel
  /** Readable lines instead of JSON. */
  pretty?: boolean
  /** The destination; by default standard output, written without blocking. */
  stream?: DestinationStream
}

const CENSOR = '••••••'

/** Field names, in lower case and without separators, whose values never reach a log. */
const SECRETS = new Set(
  `authorization cookie setcookie xapikey apikey livekey testkey token accesstoken verifytoken operatortoken
   password pass secret appsecret webhooksecret callbacksecret masterkey privatekey dkim connectionstring
   databaseurl text subject html content body otp otpcode variables variablesindexed variablesnamed
   buttonvariables base64 xoperatortoken`.split(/\s+/),
)
/** Secrets that child loggers may bind at the top level, in the spellings in use. */
const BOUND_SECRETS = [
  'authorization',
  'apiKey',
  'token',
  'password',
  'secret',
  'text',
  'otpCode',
  'body',
  'content',
]
const DEPTH_LIMIT = 6
/** An API key or operator token within a text. */
const KEY = /ph_(live|test|op)_[A-Za-z0-9]+/g

/** A structured log on standard output that redacts secrets. */
export function createLog(options: LogOptions): Logger {
  const stream = options.stream ?? createOutput()
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: 'message',
      errorKey: 'err',
      formatters: {
        level: label => ({ level: label }),
        log: fields => censor(fields, 0) as Record<string, unknown>,
      },
      redact: { paths: BOUND_SECRETS, censor: CENSOR },
      serializers: { err: describeError },
      hooks: { streamWrite: line => (line.includes('ph_') ? line.replace(KEY, `ph_$1_${CENSOR}`) : line) },
    },
    options.pretty ? createPrettyStream(stream) : stream,
  )
}

/** Copies plain objects and arrays without their secrets; other values are returned as they are. */
function censor(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return depth === DEPTH_LIMIT ? CENSOR : value.map(item => censor(item, depth + 1))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  if (depth === DEPTH_LIMIT) return CENSOR
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key]
    copy[key] = isSecret(key) && field !== undefined && field !== null ? CENSOR : censor(field, depth + 1)
  }
  return copy
}

const known = new Map<string, boolean>()
const KNOWN_LIMIT = 1_000

/** Cached, since the same names are on every line. */
function isSecret(key: string): boolean {
  const answer = known.get(key)
  if (answer !== undefined) return answer
  const secret = SECRETS.has(key.toLowerCase().replace(/[^a-z0-9]/g, ''))
  if (known.size < KNOWN_LIMIT) known.set(key, secret)
  return secret
}

type ErrorFields = { type: string; code?: string; message: string; stack?: string; cause?: ErrorFields }

/** Only these fields, since errors of the driver and of providers also contain rows and responses. */
function describeError(error: unknown, depth = 0): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { code } = error as { code?: unknown }
  return {
    type: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined || depth > 3 ? {} : { cause: describeError(error.cause, depth + 1) }),
  }
}
