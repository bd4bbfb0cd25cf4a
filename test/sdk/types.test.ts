import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SDK_TYPES, sdkTypes } from '../../scripts/sdk/read.ts'

it('the SDK says what the routes say: `npm run sdk` was run after the last change of them', async () => {
  expect(readFileSync(SDK_TYPES, 'utf8') === (await sdkTypes())).toBe(true)
}, 60_000)
