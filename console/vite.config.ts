import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The server to which `npm run console:dev` forwards API requests. */
const SERVER = 'http://127.0.0.1:8080'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react()],
  build: {
    // The default; scripts/console/build.ts builds in another folder, and moves the complete result here.
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2022',
    // The build script compresses the files and reports their sizes.
    reportCompressedSize: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // The libraries that every page needs are in one file, which changes rarely.
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
