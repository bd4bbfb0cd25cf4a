import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FUNCTIONS = fileURLToPath(new URL('../../migrations/functions/', import.meta.url))
const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url))

/** A statement, and the file that it stands in. */
export type Statement = { of: string; text: string }

/** The statements of the functions of the hot path. */
export function functionStatements(): Statement[] {
  return readdirSync(FUNCTIONS)
    .filter(file => file.endsWith('.sql'))
    .flatMap(file =>
      readFileSync(FUNCTIONS + file, 'utf8')
        .split(/;\s*\n/)
        .map(text => ({ of: file, text })),
    )
}

/** All template literals of the program, among them all of its statements. */
export function sourceStatements(): Statement[] {
  return readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .flatMap(file =>
      [...readFileSync(SOURCES + file, 'utf8').matchAll(/`([^`]*)`/g)].map(([, text]) => ({
        of: file,
        text: text!,
      })),
    )
}

export function withoutComments(statement: string): string {
  return statement.replaceAll(/--[^\n]*/g, '')
}
