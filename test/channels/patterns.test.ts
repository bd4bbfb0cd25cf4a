import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../src/channels/registry.ts'
import { PATTERN_FAULT } from '../../src/contract/pattern.ts'
import { explainFaults } from '../../src/http/schema-faults.ts'

const PROVIDERS = [...createRegistry({ key: 'sandbox', config: {} } as never).values()]

describe('the patterns of a configuration', () => {
  it.each(PROVIDERS.map(({ key, config }) => [key, config] as const))(
    'all have an error message in words: %s',
    (_, config) => {
      expect(patternsIn(config).filter(schema => typeof schema[PATTERN_FAULT] !== 'string')).toEqual([])
    },
  )

  it('are explained with this message when a value does not match', () => {
    const { config } = PROVIDERS.find(({ key }) => key === 'twilio')!
    const value = { accountSid: 'ACxyz', authToken: 'with a space' }
    expect(explainFaults(Value.Errors(config, value), value, config)).toEqual([
      { steps: ['accountSid'], message: 'must be AC and 32 digits of base 16 (0 to 9, a to f)' },
      { steps: ['authToken'], message: 'must be letters, digits and signs of ASCII, without spaces' },
    ])
  })

  it.each(
    ['smpp', 'twilio', 'vonage', 'infobip', 'http-sms'].map(
      key => [key, key === 'smpp' ? 'sourceAddress' : 'from'] as const,
    ),
  )('accept as a sender only what an SMS can carry: %s', (key, field) => {
    const { config } = PROVIDERS.find(provider => provider.key === key)!
    const faults = (sender: string) =>
      explainFaults(Value.Errors(config, { [field]: sender }), { [field]: sender }, config).filter(
        ({ steps }) => steps[0] === field,
      )
    const NAMES = ['Zeta', 'A Name-1._x', '+1']
    for (const sender of [...NAMES, '12345', '+491701234567', '12345678901234567890']) {
      expect(faults(sender)).toEqual([])
    }
    for (const sender of ['TwelveLetter', 'TwentyLettersInARow1', '0800 123 45 67', 'Zeta!']) {
      const message =
        'must be a number, or a name of at most 11 letters a to z, digits, spaces, dots, _ and -'
      expect(faults(sender)).toEqual([{ steps: [field], message }])
    }
  })
})

function patternsIn(schema: unknown): Record<string, unknown>[] {
  if (schema === null || typeof schema !== 'object') return []
  const own = 'pattern' in schema && typeof schema.pattern === 'string' ? [{ ...schema }] : []
  return [...own, ...Object.values(schema).flatMap(patternsIn)]
}
