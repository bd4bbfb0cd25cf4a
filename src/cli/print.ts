/**
 * Writes what a command has to say to standard output. If that fails, the process ends with 1; a reader such as
 * `head` may close the pipe early: that is no error.
 */
export function print(text: string): void {
  watchStdout()
  process.stdout.write(text)
}

/** For a command that may write much later, or writes by itself. */
export function watchStdout(): void {
  process.stdout.off('error', onStdoutError).on('error', onStdoutError)
}

function onStdoutError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  process.stderr.write(`posthorn: Standard output cannot be written: ${error.message}\n`)
  process.exit(1)
}
