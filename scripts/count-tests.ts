// The last line of .ci/run, from Vitest's JSON report: "N passed, N failed", and what was skipped.
import { readFileSync } from 'node:fs'

type Report = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

const file = process.argv[2] ?? ''
const report = read(file)
if (!report) {
  console.log('0 passed, 1 failed (the run ended without a report)')
  process.exit(1)
}
// A file that could not even be loaded has no tests of its own to fail.
const broken = report.testResults.filter(
  result => result.status === 'failed' && result.assertionResults.length === 0,
)
if (report.numPendingTests > 0) console.log(`${report.numPendingTests} skipped`)
const failed = report.numFailedTests + broken.length
console.log(`${report.numPassedTests} passed, ${failed} failed`)
if (failed > 0 || report.numPassedTests === 0) process.exitCode = 1

function read(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return undefined
  }
}
