import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { readClientConfig } from '../config.ts'
import { misuse, type Refusal } from '../lib/refusal.ts'
import { ApiRefusal, type Body, type Client, type ClientOptions, createClient } from './client.ts'
import { print, watchStdout } from './print.ts'
import type { Run } from './run.ts'
import { withoutControls } from './show.ts'

type Values = Record<string, string | boolean | string[] | undefined>

export type Invocation = {
  client: Client
  /** Positional arguments, as many as the usage names. */
  args: string[]
  /** The positional arguments, encoded for use in a URL path. */
  pathArgs: string[]
  /** The value of an option that takes one, given once. */
  text(name: string): string | undefined
  /** All values of an option that may be repeated. */
  texts(name: string): string[] | undefined
  number(name: string): number | undefined
  /** True when given. */
  flag(name: string): boolean
  /** Like `text`, but refused when absent. */
  required(name: string): string
}

export type ClientCommand = {
  /** As it is typed, after `posthorn`: its words and options. */
  usage: string
  /** How many positional words it takes. */
  argCount: number
  options?: ParseArgsOptionsConfig
  /** Calls the API; returns the response body, or null if all output is already written. */
  call(invocation: Invocation): Promise<Body | null>
  /** Whether a successful response still means failure of the command: exit code 1. */
  isFailure?(answer: Body): boolean
  /** The response as readable text. */
  show(answer: Body): string
}

/** Suffix of the usage of commands that need an API key. */
export const API_KEY_HINT = '(with --key or POSTHORN_API_KEY)'

const COMMON = {
  url: { type: 'string' },
  token: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsOptionsConfig

/**
 * A command that is a thin client of the HTTP API. Exit codes: 0 success, 1 the API refused (its code and
 * text are on standard error), 2 wrong usage.
 */
export function clientCommand(command: ClientCommand): Run {
  return async args => {
    const { values, positionals } = parse(command, args)
    if (values['help']) {
      print(`Usage: posthorn ${command.usage}\n`)
      return 0
    }
    if (positionals.length !== command.argCount) throw usageError(command, 'wrong number of arguments')
    watchStdout()
    const client = createClient(readClientConfig(), optionsOf(values))
    try {
      const answer = await command.call(invocationOf(command, client, positionals, values))
      if (answer === null) return 0
      // With --json, prints the API's data unchanged, for other programs.
      print(values['json'] ? `${JSON.stringify(answer['data'] ?? answer)}\n` : render(command, answer))
      return command.isFailure?.(answer) ? 1 : 0
    } catch (error) {
      if (error instanceof ApiRefusal) return printError(error)
      throw error
    }
  }
}

function parse(command: ClientCommand, args: readonly string[]): { values: Values; positionals: string[] } {
  const options: ParseArgsOptionsConfig = { ...COMMON, ...command.options }
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      tokens: true,
    })
    checkRepeated(tokens, options)
    return { values: values as Values, positionals }
  } catch (error) {
    throw usageError(command, (error as Error).message)
  }
}

/** Of two values the parser would drop the first: one of two recipients would get nothing, without a word. */
function checkRepeated(tokens: readonly { kind: string; name?: string }[], options: ParseArgsOptionsConfig) {
  const given = new Set<string>()
  for (const { name } of tokens) {
    if (name === undefined || options[name]?.type !== 'string' || options[name].multiple) continue
    if (given.has(name)) throw new Error(`--${name} is given twice`)
    given.add(name)
  }
}

function optionsOf(values: Values): ClientOptions {
  const text = (name: string) => values[name] as string | undefined
  return { url: text('url'), token: text('token'), key: text('key') }
}

function usageError(command: ClientCommand, reason: string): Refusal {
  return misuse(`${reason}\nUsage: posthorn ${command.usage}`)
}

function invocationOf(command: ClientCommand, client: Client, words: string[], values: Values): Invocation {
  const text = (name: string) => values[name] as string | undefined
  return {
    client,
    args: words,
    pathArgs: words.map(encodeURIComponent),
    text,
    texts: name => values[name] as string[] | undefined,
    flag: name => values[name] === true,
    number(name) {
      const given = text(name)
      if (given === undefined) return undefined
      if (/^-?\d+(\.\d+)?$/.test(given)) return Number(given)
      throw usageError(command, `--${name} must be a number`)
    },
    required(name) {
      const given = text(name)
      if (given === undefined) throw usageError(command, `--${name} is missing`)
      return given
    },
  }
}

function render(command: ClientCommand, answer: Body): string {
  const more = answer['nextCursor']
  const hint = typeof more === 'string' ? `More results: --cursor ${more}\n` : ''
  return withoutControls(`${command.show(answer)}\n${hint}`)
}

function printError(refusal: ApiRefusal): number {
  const details = refusal.details.map(({ path, message }) => `  ${path}: ${message}\n`)
  const text = `${refusal.code}: ${refusal.message}\n${details.length > 1 ? details.join('') : ''}`
  process.stderr.write(withoutControls(text))
  return 1
}
