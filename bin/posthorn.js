#!/usr/bin/env node
// Old JavaScript syntax, so that old versions of Node.js can report that they are too old.
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

// The compile cache makes a start four times faster, and saves 20 MB of memory. Without write access,
// everything works without it.
const cache =
  process.env.NODE_COMPILE_CACHE || path.join(__dirname, '..', 'node_modules', '.cache', 'posthorn')
nodeModule.enableCompileCache(cache)

// A checkout runs its sources; the published package has only the build.
const source = path.join(__dirname, '..', 'src', 'main.ts')
const runsSource = fs.existsSync(source)
const main = runsSource ? source : path.join(__dirname, '..', 'dist', 'main.js')
if (runsSource && process.argv[2] === 'serve') compileApart()

import(url.pathToFileURL(main).href).catch(error => {
  console.error(error)
  process.exit(1)
})

// Stripping the types costs some 20 MB for the lifetime of the process, so a first start fills the compile
// cache in another process. If that fails, this process compiles.
function compileApart() {
  const directory = nodeModule.getCompileCacheDir()
  if (directory === undefined) return
  const done = path.join(directory, 'posthorn-compiled')
  if (fs.existsSync(done)) return
  const serve = url.pathToFileURL(path.join(path.dirname(source), 'cli', 'serve.ts')).href
  // With the same flags: V8's cache is separate for each set of flags.
  spawnSync(process.execPath, [...process.execArgv, '--import', serve, main, '--version'], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    stdio: 'ignore',
    timeout: 30_000,
  })
  try {
    fs.writeFileSync(done, '')
  } catch {
    // The next start tries again.
  }
}
