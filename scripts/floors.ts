// What dependency-cruiser cannot see: words that belong to some rooms alone.
// Prints every place where one stands elsewhere, and fails when there is any.
import { globSync, readFileSync } from 'node:fs'
import { findStrays } from './floors/strays.ts'

const strays = globSync('src/**/*.ts').flatMap(file =>
  findStrays(file.replaceAll('\\', '/'), readFileSync(file, 'utf8')),
)
for (const stray of strays) console.error(stray)
if (strays.length > 0) process.exitCode = 1
