// Writes sdk/api.ts: the types of everything that our API takes and answers. `npm run sdk`.
import { writeFileSync } from 'node:fs'
import { SDK_TYPES, sdkTypes } from './sdk/read.ts'

writeFileSync(SDK_TYPES, await sdkTypes())
