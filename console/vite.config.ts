import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npm run console:dev` finds a server to talk to. */
const SERVER = 'http://127.0.0.1:8080'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  build: {
    // scripts/console/build.ts builds aside and puts it in place when it is whole.
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // They are compressed once, by our own step.
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // One file that changes seldom, for what every page needs.
        codeSplitting: {
          groups: [
            {
              name: 'base',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/react-query|@tanstack\/query-core|wouter)\//,
            },
          ],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/docs', '/media', '/openapi.json'].map(path => [path, { target: SERVER }]),
    ),
  },
})
