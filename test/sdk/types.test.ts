import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SDK_TYPES, SDK_WORDS, sdkTypes, sdkWords } from '../../scripts/sdk/read.ts'

it('the SDK says what the routes say: `npm run sdk` was run after the last change of them', async () => {
  const types = await sdkTypes()
  expect(readFileSync(SDK_TYPES, 'utf8') === types).toBe(true)
  expect(readFileSync(SDK_WORDS, 'utf8') === (await sdkWords(types))).toBe(true)
}, 60_000)
