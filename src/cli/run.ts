/**
 * What a command's file exports as `run`: does the work for the words behind
 * the command's own and resolves with the process's exit code. Throws a Refusal
 * for what its user can mend.
 */
export type Run = (args: readonly string[]) => Promise<number>
