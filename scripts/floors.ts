// Checks for what dependency-cruiser cannot see: expressions that only certain directories may use. Prints
// every violation, and fails if there are any.
import { globSync, readFileSync } from 'node:fs'
import { findStrays } from './floors/strays.ts'

const strays = globSync('src/**/*.ts').flatMap(file =>
  findStrays(file.replaceAll('\\', '/'), readFileSync(file, 'utf8')),
)
for (const stray of strays) console.error(stray)
if (strays.length > 0) process.exitCode = 1
