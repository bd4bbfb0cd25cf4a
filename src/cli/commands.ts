import type { Run } from './run.ts'

export type Command = {
  /** One line for `posthorn help`. */
  summary: string
  /** Loaded when it is called: a command waits for no other's code. */
  load(): Promise<{ run: Run }>
}

/** Every command by the words that call it; one line each, the code in a file of its own. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  serve: {
    summary: 'Run the server: HTTP API, dispatcher, and the database unless DATABASE_URL names one',
    load: () => import('./serve.ts'),
  },
  migrate: {
    summary: 'Bring the database up to date, and stop',
    load: () => import('./migrate.ts'),
  },
}
