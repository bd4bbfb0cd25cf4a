#!/usr/bin/env node
// Plain old JavaScript: a Node.js that is too old must get far enough to say so.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `Posthorn needs Node.js 24 or newer, and this is ${process.version}: use the npm scripts (npm start, npm run posthorn), which bring Node.js 24 on Linux, or install it from https://nodejs.org.`,
  )
  process.exit(1)
}

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const nodeModule = require('node:module')
const path = require('node:path')
const url = require('node:url')

// Compiled code is kept between starts: a start takes a quarter of the time, and
// the process 20 MB less. Where it cannot be written, everything works without.
const cache =
  process.env.NODE_COMPILE_CACHE || path.join(__dirname, '..', 'node_modules', '.cache', 'posthorn')
nodeModule.enableCompileCache(cache)

// A checkout runs its source; the published package has only what was built from it.
const source = path.join(__dirname, '..', 'src', 'main.ts')
const runsSource = fs.existsSync(source)
const main = runsSource ? source : path.join(__dirname, '..', 'dist', 'main.js')
if (runsSource && process.argv[2] === 'serve') compileApart()

import(url.pathToFileURL(main).href).catch(error => {
  console.error(error)
  process.exit(1)
})

// What strips the types from the source keeps some 20 MB for as long as its process lives: a first start
// fills the compile cache in another process. Where that fails, this one compiles.
function compileApart() {
  const directory = nodeModule.getCompileCacheDir()
  if (directory === undefined) return
  const done = path.join(directory, 'posthorn-compiled')
  if (fs.existsSync(done)) return
  const serve = url.pathToFileURL(path.join(path.dirname(source), 'cli', 'serve.ts')).href
  // With the same flags: compiled code is kept apart for each set of V8's.
  spawnSync(process.execPath, [...process.execArgv, '--import', serve, main, '--version'], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    stdio: 'ignore',
    timeout: 30_000,
  })
  try {
    fs.writeFileSync(done, '')
  } catch {
    // Then the next start does it again.
  }
}
