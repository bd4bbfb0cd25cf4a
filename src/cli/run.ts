/**
 * What a command's file exports as `run`: runs the command with the arguments after its name, and resolves
 * with the exit code. Throws a Refusal for errors that the user can fix.
 */
export type Run = (args: readonly string[]) => Promise<number>
