// Prints the last line of .ci/run, from Vitest's JSON reports: "N passed, N failed", and the number skipped.
import { readFileSync } from 'node:fs'

type Report = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

const reports = process.argv.slice(2).map(read)
const sum = (count: (report: Report) => number) => reports.reduce((all, report) => all + count(report), 0)

const skipped = sum(report => report.numPendingTests)
if (skipped > 0) console.log(`${skipped} skipped`)
const passed = sum(report => report.numPassedTests)
const failed = sum(report => report.numFailedTests + brokenFiles(report))
console.log(`${passed} passed, ${failed} failed`)
if (failed > 0 || passed === 0) process.exitCode = 1

/** Files that could not be loaded have no failed tests. */
function brokenFiles({ testResults }: Report): number {
  return testResults.filter(result => result.status === 'failed' && result.assertionResults.length === 0)
    .length
}

function read(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    console.log(`${path}: the run ended without a report`)
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, testResults: [] }
  }
}
