// Builds dist/ for the published package: Node does not strip types below node_modules.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'
import { buildConsole } from './console/build.ts'

rmSync('dist', { recursive: true, force: true })
compile('tsconfig.build.json')
compile('sdk/tsconfig.json')

await buildConsole('dist/console')

// Other files are copied.
for (const file of globSync('src/**/*', { withFileTypes: true })) {
  if (!file.isFile() || /\.(ts|tsx)$/.test(file.name)) continue
  const source = `${file.parentPath}/${file.name}`
  cpSync(source, source.replace(/^src/, 'dist'))
}

function compile(project: string): void {
  const { status } = spawnSync('tsc', ['--project', project], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
