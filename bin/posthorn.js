#!/usr/bin/env node
// Plain old JavaScript: a Node.js that is too old must get far enough to say so.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `Posthorn needs Node.js 24 or newer, and this is ${process.version}: use the npm scripts (npm start, npm run posthorn), which bring Node.js 24 on Linux, or install it from https://nodejs.org.`,
  )
  process.exit(1)
}

const fs = require('node:fs')
const nodeModule = require('node:module')
const path = require('node:path')
const url = require('node:url')

// Compiled code is kept between starts: a start takes a quarter of the time, and
// the process 20 MB less. Where it cannot be written, everything works without.
nodeModule.enableCompileCache(path.join(__dirname, '..', 'node_modules', '.cache', 'posthorn'))

// A checkout runs its source; the published package has only what was built from it.
const source = path.join(__dirname, '..', 'src', 'main.ts')
const main = fs.existsSync(source) ? source : path.join(__dirname, '..', 'dist', 'main.js')

import(url.pathToFileURL(main).href).catch(error => {
  console.error(error)
  process.exit(1)
})
