import { FRAUD_RULES, type FraudSettingsView } from '../contract/fraud.ts'
import type { Body } from './client.ts'
import { clientCommand } from './client-command.ts'
import { readJsonFile } from './files.ts'
import { table } from './show.ts'

const ACCOUNT = { account: { type: 'string' } } as const

export const show = clientCommand({
  usage: 'fraud show [--account ACCOUNT]   (of the platform without --account)',
  argCount: 0,
  options: ACCOUNT,
  call: given => given.client.admin('GET', pathOf(given.text('account'))),
  show: showRules,
})

/** The file contains `settings` as `fraud show --json` prints it, or that whole output. */
export const set = clientCommand({
  usage: 'fraud set FILE.json|- [--account ACCOUNT]   (replaces all settings)',
  argCount: 1,
  options: ACCOUNT,
  call(given) {
    const read = readJsonFile(given.args[0]!)
    const whole = typeof read === 'object' && read !== null && 'settings' in read
    return given.client.admin('PUT', pathOf(given.text('account')), whole ? read.settings : read)
  },
  show: showRules,
})

function pathOf(account: string | undefined): string {
  return account === undefined ? '/fraud' : `/accounts/${encodeURIComponent(account)}/fraud`
}

function showRules(answer: Body): string {
  const { settings, effective } = answer['data'] as FraudSettingsView
  return table(
    ['rule', 'mode', 'limits', 'set here'],
    [
      ...FRAUD_RULES.map(rule => {
        const { mode, ...limits } = effective[rule]
        return [rule, mode, textOf(limits), settings[rule] ? textOf(settings[rule]) : '']
      }),
      ['safe', '', effective.safe.join(' '), settings.safe?.join(' ') ?? ''],
    ],
  )
}

function textOf(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.join(' ') : (value ?? '–')}`)
    .join(', ')
}
