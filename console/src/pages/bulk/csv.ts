/** Rows as CSV for spreadsheets; cells that a spreadsheet would take for a formula are escaped. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map(row => `${row.map(cell).join(',')}\r\n`).join('')
}

const FORMULA = /^(?:[=@\t\r]|[+-](?![\d\s().-]*$))/

function cell(value: string): string {
  const harmless = FORMULA.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
