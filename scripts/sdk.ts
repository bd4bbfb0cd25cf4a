// Generates sdk/api.ts, the types of all requests and responses of the API, and sdk/words.ts, the values of
// its enums. `npm run sdk`.
import { writeFileSync } from 'node:fs'
import { SDK_TYPES, SDK_WORDS, sdkTypes, sdkWords } from './sdk/read.ts'

const types = await sdkTypes()
writeFileSync(SDK_TYPES, types)
writeFileSync(SDK_WORDS, await sdkWords(types))
