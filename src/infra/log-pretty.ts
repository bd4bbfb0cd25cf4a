import { styleText } from 'node:util'
import type { DestinationStream } from 'pino'

const COLOURS = {
  fatal: 'red',
  error: 'red',
  warn: 'yellow',
  info: 'green',
  debug: 'blue',
  trace: 'gray',
} as const

/** Turns each JSON line into a readable one: time, level, message, and the rest as key=value. */
export function createPrettyStream(target: DestinationStream): DestinationStream {
  return { write: line => target.write(prettyLine(line)) }
}

function prettyLine(line: string): string {
  let fields: Record<string, unknown>
  try {
    fields = JSON.parse(line)
  } catch {
    return line
  }
  const { time, level, message, err, ...rest } = fields
  const colour = COLOURS[level as keyof typeof COLOURS] ?? 'gray'
  const words = [
    styleText('gray', String(time).slice(11, 23)),
    styleText(colour, String(level).padEnd(5)),
    escapeControls(String(message ?? '')),
    ...Object.entries(rest).map(([key, value]) => styleText('gray', `${key}=${compact(value)}`)),
  ]
  return `${words.join(' ')}\n${stackOf(err)}`
}

function compact(value: unknown): string {
  return escapeControls(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Escapes control characters: the text may come from outside, and must neither begin a new line nor control
 * the terminal.
 */
function escapeControls(text: string): string {
  return text.replace(/\p{Cc}/gu, control => SHORT[control] ?? `\\u${hexOf(control)}`)
}

/** The short escapes of JSON. */
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function hexOf(control: string): string {
  return control.charCodeAt(0).toString(16).padStart(4, '0')
}

function stackOf(error: unknown): string {
  const { stack, message } = (error ?? {}) as { stack?: string; message?: string }
  const text = stack ?? message
  if (text === undefined) return ''
  return text
    .split('\n')
    .map(line => `    ${escapeControls(line)}\n`)
    .join('')
}
