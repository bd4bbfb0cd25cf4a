/** A table with a line of headings, and columns as wide as needed. */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [headings, ...rows.map(row => row.map(cell))]
  const widths = headings.map((_, at) => Math.max(...lines.map(line => line[at]!.length)))
  return lines
    .map(line =>
      line
        .map((text, at) => text.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One object, one line per property. */
export function card(facts: readonly (readonly [string, unknown])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n')
}

/** Values may come from outside: they must not begin a new line in a table. */
function cell(value: unknown): string {
  return format(value).replace(/[\t\n\r]+/g, ' ')
}

/** Replaces control characters, except line feeds, and bidirectional controls. */
export function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd')
}

function format(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–'
  if (value === true) return 'yes'
  if (value === false) return 'no'
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.join(',')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
