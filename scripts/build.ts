// Makes dist/, which the published package runs: Node strips no types below node_modules.
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
const { status } = spawnSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

// What is no TypeScript goes along as it is.
for (const file of globSync('src/**/*', { withFileTypes: true })) {
  if (!file.isFile() || /\.(ts|tsx)$/.test(file.name)) continue
  const source = `${file.parentPath}/${file.name}`
  cpSync(source, source.replace(/^src/, 'dist'))
}
