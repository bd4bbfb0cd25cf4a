import { readFileSync } from 'node:fs'
import { misuse, Refusal } from '../lib/refusal.ts'
import { COMMANDS } from './commands.ts'
import { print } from './print.ts'

/**
 * Runs one command line; resolves with the exit code. Reports errors on standard error, in one line if they
 * are expected.
 */
export async function runCli(words: readonly string[]): Promise<number> {
  try {
    return await dispatch(words)
  } catch (error) {
    return printError(error)
  }
}

async function dispatch(words: readonly string[]): Promise<number> {
  const [first, second] = words
  if (first === 'help' && second !== undefined) return dispatch([...words.slice(1), '--help'])
  if (first === undefined || first === 'help' || isHelp(first)) return help()
  if (first === '--version' || first === '-v') return version()
  // Command names have one or two words, as in `account create`.
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    if (!Object.hasOwn(COMMANDS, name)) continue
    const { load, takesNoArguments } = COMMANDS[name]!
    const rest = words.slice(length)
    if (takesNoArguments && isHelp(rest[0])) return usage(name)
    if (takesNoArguments && rest.length > 0)
      throw misuse(`posthorn ${name} takes no arguments: environment variables configure it.`)
    const { run } = await load()
    return run(rest)
  }
  const family = Object.keys(COMMANDS).filter(name => name.startsWith(`${first} `))
  if (family.length > 0 && isHelp(second)) return list(`${first} <command>`, family)
  throw unknownCommand(family.length > 0 && second ? `${first} ${second}` : first, family)
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h'
}

function unknownCommand(name: string, family: readonly string[]): Refusal {
  const hint =
    family.length === 0 ? 'posthorn help lists all commands' : `the commands are ${family.join(', ')}`
  return misuse(`Unknown command "${name}": ${hint}.`)
}

function help(): number {
  list('<command>', Object.keys(COMMANDS))
  print(
    '\nposthorn <command> --help shows its options. Commands that call a server also take --json,\n' +
      '--url (or POSTHORN_URL), --token (POSTHORN_OPERATOR_TOKEN) and --key (POSTHORN_API_KEY).\n',
  )
  return 0
}

function list(called: string, names: readonly string[]): number {
  const width = Math.max(...names.map(name => name.length))
  const lines = names.map(name => `  ${name.padEnd(width)}  ${COMMANDS[name]!.summary}`)
  print(`Usage: posthorn ${called} [options]\n\n${lines.join('\n')}\n`)
  return 0
}

function usage(name: string): number {
  print(`Usage: posthorn ${name}\n`)
  return 0
}

function version(): number {
  const file = new URL('../../package.json', import.meta.url)
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  print(`${manifest.version}\n`)
  return 0
}

/** A Refusal is printed as it is; any other error is a bug, and is printed with its stack. */
function printError(error: unknown): number {
  if (error instanceof Refusal) {
    process.stderr.write(`posthorn: ${error.message}\n`)
    return error.exitCode
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  process.stderr.write(`posthorn: unexpected error: ${message}\n${stack ?? ''}\n`)
  return 1
}
