// Prints the end of .ci/run, from Vitest's JSON reports: each failed test with the start of its message,
// the number skipped, and the last line, "N passed, N failed".
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

type Report = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  testResults: FileResult[]
}
type FileResult = {
  name: string
  status: string
  message: string
  assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
}

const MESSAGE_CHARACTERS = 1_000

const reports = process.argv.slice(2).map(read)
const sum = (count: (report: Report) => number) => reports.reduce((all, report) => all + count(report), 0)

for (const { testResults } of reports) testResults.forEach(tellFailures)
const skipped = sum(report => report.numPendingTests)
if (skipped > 0) console.log(`${skipped} skipped`)
const passed = sum(report => report.numPassedTests)
const failed = sum(report => report.numFailedTests + report.testResults.filter(isBroken).length)
console.log(`${passed} passed, ${failed} failed`)
if (failed > 0 || passed === 0) process.exitCode = 1

function tellFailures(file: FileResult): void {
  const path = relative('.', file.name)
  if (isBroken(file)) console.log(`FAILED ${path}\n${excerpt(file.message)}`)
  for (const { fullName, status, failureMessages } of file.assertionResults) {
    if (status === 'failed')
      console.log(`FAILED ${path}: ${fullName}\n${excerpt(failureMessages.join('\n'))}`)
  }
}

/** Whether the file could not be loaded: it has no failed tests then. */
function isBroken({ status, assertionResults }: FileResult): boolean {
  return status === 'failed' && assertionResults.every(result => result.status !== 'failed')
}

/** The start of a message, indented. */
function excerpt(message: string): string {
  const plain = stripVTControlCharacters(message).trim()
  return plain.slice(0, MESSAGE_CHARACTERS).replace(/^/gm, '    ')
}

function read(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    console.log(`${path}: the run ended without a report`)
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0, testResults: [] }
  }
}
