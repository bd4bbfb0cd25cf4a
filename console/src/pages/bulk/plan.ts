import type { Channel, MessageType, SingleSendBody } from '../../../../sdk/index.ts'

/**
 * The meaning of a column; a number is the template variable that it fills, `button0` the variable in the
 * first button's URL.
 */
export type Target = 'to' | 'text' | 'subject' | number | `button${number}` | null

/** How the rows of a file become messages. */
export type Plan = {
  /** By column. */
  columns: Target[]
  channel: 'auto' | Channel
  messageType: MessageType
  /** Instead of a text. */
  template: { id: string; places: number; buttons: readonly { index: number; subType: string }[] } | null
  /** The SMS sender of every row; empty for the default. */
  sender: string
  /** The same text for every row; empty if a column has the texts. */
  text: string
  /** Adds the plus that spreadsheets remove from numbers. */
  addPlus: boolean
}

export type RowFault = { column: number | null; message: string }

const NAMES: readonly (readonly ['to' | 'text' | 'subject', RegExp])[] = [
  ['to', /^(to|phone|phone.?number|mobile|msisdn|number|recipient|e-?mail|e-?mail.?address|chat.?id)$/i],
  ['subject', /^(subject|title)$/i],
  ['text', /^(text|message|body|words|content|sms)$/i],
]

/** Guesses the targets from the column names; each target at most once. */
export function guessColumns(names: readonly string[]): Target[] {
  const taken = new Set<Target>()
  return names.map(name => {
    const found = NAMES.find(([target, pattern]) => !taken.has(target) && pattern.test(name.trim()))
    if (!found) return null
    taken.add(found[0])
    return found[0]
  })
}

/** Whether recipients in these rows are numbers without their plus. */
export function hasLostPlus(rows: readonly (readonly string[])[], columns: readonly Target[]): boolean {
  const at = columns.indexOf('to')
  return at >= 0 && rows.some(row => /^[1-9]\d{9,14}$/.test((row[at] ?? '').trim()))
}

export function toMessage(row: readonly string[], plan: Plan): SingleSendBody {
  const { channel, template, messageType, sender } = plan
  const subject = cellOf(row, plan, 'subject')
  const to = recipientOf(row, plan)
  const common = {
    to,
    ...(channel !== 'auto' && { channel }),
    ...(sender !== '' && supportsSender(plan) && { sender: { id: sender } }),
  }
  if (template !== null) {
    const values = Array.from({ length: template.places }, (_, at) => cellOf(row, plan, at + 1))
    const buttons = template.buttons.map(button => ({
      ...button,
      text: cellOf(row, plan, buttonTarget(button)),
    }))
    return {
      ...common,
      template: {
        id: template.id,
        ...(values.length > 0 && { variablesIndexed: values }),
        ...(buttons.length > 0 && { buttonVariables: buttons }),
      },
    }
  }
  return {
    ...common,
    messageType,
    content: { text: cellOf(row, plan, 'text') || plan.text, ...(subject !== '' && { subject }) },
  }
}

/** Only SMS has a sender. */
export function supportsSender({ channel }: Plan): boolean {
  return channel === 'auto' || channel === 'local_sms' || channel === 'int_sms'
}

/** The target of the column for the variable in a button's URL. */
export function buttonTarget({ index }: { index: number }): Target {
  return `button${index}`
}

/** The errors that can be found here; the server validates all rows before it sends any. */
export function faultsOf(row: readonly string[], plan: Plan): RowFault[] {
  const faults: RowFault[] = []
  const to = recipientFault(recipientOf(row, plan), plan.channel)
  if (to !== null) faults.push({ column: columnOf(plan, 'to'), message: to })
  if (plan.template === null && (cellOf(row, plan, 'text') || plan.text) === '') {
    faults.push({ column: columnOf(plan, 'text'), message: 'has no text' })
  }
  for (let place = 1; place <= (plan.template?.places ?? 0); place++) {
    if (cellOf(row, plan, place) === '')
      faults.push({ column: columnOf(plan, place), message: `has no value for {{${place}}}` })
  }
  for (const button of plan.template?.buttons ?? []) {
    if (cellOf(row, plan, buttonTarget(button)) === '')
      faults.push({
        column: columnOf(plan, buttonTarget(button)),
        message: `has no value for button ${button.index + 1}`,
      })
  }
  return faults
}

/** What is missing in the plan; null if it is complete. */
export function missingIn(plan: Plan): string | null {
  if (!plan.columns.includes('to')) return 'Choose the column with the recipients.'
  if (plan.template !== null) {
    for (let place = 1; place <= plan.template.places; place++) {
      if (!plan.columns.includes(place)) return `Choose the column that fills {{${place}}} of the template.`
    }
    const button = plan.template.buttons.find(each => !plan.columns.includes(buttonTarget(each)))
    if (button) return `Choose the column that completes the URL of button ${button.index + 1}.`
    return null
  }
  if (!plan.columns.includes('text') && plan.text === '')
    return 'Choose the column with the texts, enter one text for all rows, or choose a template.'
  return null
}

/** What looks like a variable in the text, such as `{{name}}`. */
export function placeholderIn(text: string): string | null {
  return /\{\{[^{}]*\}\}/.exec(text)?.[0] ?? null
}

function columnOf({ columns }: Plan, target: Target): number | null {
  const at = columns.indexOf(target)
  return at < 0 ? null : at
}

function cellOf(row: readonly string[], plan: Plan, target: Target): string {
  const at = plan.columns.indexOf(target)
  return at < 0 ? '' : (row[at] ?? '').trim()
}

export function recipientOf(row: readonly string[], plan: Plan): string {
  const given = cellOf(row, plan, 'to')
  if (given === '' || given.includes('@') || plan.channel === 'botapp_bot') return given
  const number = given.replaceAll(/[\s().-]/g, '')
  return plan.addPlus && /^[1-9]\d{6,14}$/.test(number) ? `+${number}` : number
}

const PHONE = /^\+[1-9]\d{6,14}$/
const MAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/
const GROUP = /^[\d-]+@g\.us$/
const CHAT = /^-?\d{1,20}$/

function recipientFault(to: string, channel: Plan['channel']): string | null {
  if (to === '') return 'has no recipient'
  if (channel === 'botapp_bot') return CHAT.test(to) ? null : 'is not a chat id'
  if (channel === 'email_user') return MAIL.test(to) ? null : 'is not an e-mail address'
  if (PHONE.test(to) || (channel === 'user_chatapp_session' && GROUP.test(to))) return null
  if (channel === 'auto' && (MAIL.test(to) || GROUP.test(to))) return null
  return /^\d+$/.test(to) ? 'is not a phone number with + and country code' : 'is not a valid recipient'
}
