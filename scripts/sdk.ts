// Writes sdk/api.ts, the types of everything that our API takes and answers, and sdk/words.ts. `npm run sdk`.
import { writeFileSync } from 'node:fs'
import { SDK_TYPES, SDK_WORDS, sdkTypes, sdkWords } from './sdk/read.ts'

const types = await sdkTypes()
writeFileSync(SDK_TYPES, types)
writeFileSync(SDK_WORDS, await sdkWords(types))
