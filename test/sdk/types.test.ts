import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SDK_TYPES, SDK_WORDS, sdkTypes, sdkWords } from '../../scripts/sdk/read.ts'

it('the generated files of the SDK match the routes: `npm run sdk` updates them', async () => {
  const types = await sdkTypes()
  expect(readFileSync(SDK_TYPES, 'utf8') === types).toBe(true)
  expect(readFileSync(SDK_WORDS, 'utf8') === (await sdkWords(types))).toBe(true)
}, 60_000)
