/**
 * The text, cut to one line of a terminal: a longer one continues on the next, and what is written in its place
 * later leaves its beginning there. `columns` may be 0 or undefined where a terminal does not tell.
 */
export function oneLine(text: string, columns: number | undefined): string {
  return columns ? text.slice(0, columns - 1) : text
}
