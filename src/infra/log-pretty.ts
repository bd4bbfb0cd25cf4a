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

/** Turns each JSON line into one that a person reads: time, level, message, the rest as key=value. */
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
    String(message ?? ''),
    ...Object.entries(rest).map(([key, value]) => styleText('gray', `${key}=${compact(value)}`)),
  ]
  return `${words.join(' ')}\n${stackOf(err)}`
}

function compact(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function stackOf(error: unknown): string {
  const { stack, message } = (error ?? {}) as { stack?: string; message?: string }
  const text = stack ?? message
  return text === undefined ? '' : `${text.replace(/^/gm, '    ')}\n`
}
