import type { Measured } from './measure.ts'

/** One figure that has a target. */
export type Figure = {
  name: string
  /** The measured value as text, such as `8,412/s`. */
  measured: string
  baseline: string
  /** The number that is compared with the target. */
  value: number
  unit?: string
  target: { least: number } | { most: number }
}

/** Prints a line while the bench runs; the figures are printed at the end. */
export function note(text: string): void {
  console.log(text)
}

export function noteMeasured(name: string, measured: Measured): void {
  note(
    `  ${name.padEnd(14)} ${perSecond(measured.perSecond).padStart(9)}` +
      `  p50 ${fixed(measured.p50Ms, 1)} ms  p99 ${fixed(measured.p99Ms, 1)} ms  max ${fixed(measured.maxMs, 0)} ms` +
      `  CPU a send: Node ${fixed(measured.nodeMicros, 0)} µs, PostgreSQL ${fixed(measured.postgresMicros, 0)} µs` +
      `  a flush: accept ${fixed(measured.acceptBatch, 1)}, settle ${fixed(measured.settleBatch, 1)}` +
      `  machine ${fixed(measured.machineBusy * 100, 0)} % busy, by others ${fixed(measured.machineOthers * 100, 0)} %`,
  )
}

/** Prints the table of all figures. */
export function printFigures(figures: readonly Figure[]): void {
  const rows = figures.map(figure => [
    figure.name,
    figure.measured,
    figure.baseline,
    `${fixed(figure.value, 2)}${figure.unit ?? ''}`,
    'least' in figure.target ? `≥ ${figure.target.least}` : `≤ ${figure.target.most}`,
    isReached(figure) ? 'reached' : 'MISSED',
  ])
  const table = [['figure', 'measured', 'baseline', 'value', 'target', ''], ...rows]
  const widths = table[0]!.map((_, at) => Math.max(...table.map(row => row[at]!.length)))
  note('')
  for (const row of table)
    note(
      row
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
}

export function isReached({ value, target }: Figure): boolean {
  return 'least' in target ? value >= target.least : value <= target.most
}

export function perSecond(value: number): string {
  return `${Math.round(value).toLocaleString('en')}/s`
}

export function fixed(value: number, digits: number): string {
  return value.toFixed(digits)
}
