import { invalid } from '../../contract/errors.ts'
import { pathStep } from '../../lib/json-path.ts'
import type { TemplateSpec, ValueButton } from './spec.ts'

/** The values for a template in a send or a preview. */
export type GivenValues = {
  variablesIndexed?: readonly string[]
  variablesNamed?: Readonly<Record<string, string>>
}
type GivenButton = { index: number; subType?: string; text: string }

export type ButtonValue = { index: number; subType: 'url' | 'copy_code'; text: string }

/**
 * The values for the placeholders 1 to `places`, exactly as many. `base` is their path in the
 * request, such as `template.`. Throws a 400 that names the field.
 */
export function readValues(given: GivenValues, places: number, base: string): readonly string[] {
  const { variablesIndexed, variablesNamed } = given
  if (variablesIndexed && variablesNamed) {
    throw invalid(`${base}variablesNamed`, 'must not be given together with variablesIndexed')
  }
  if (variablesNamed) return readNamed(variablesNamed, places, `${base}variablesNamed`)
  const values = variablesIndexed ?? []
  if (values.length !== places) {
    throw invalid(
      `${base}variablesIndexed`,
      `must have ${count(places, 'value')} for this template, not ${values.length}`,
    )
  }
  return values
}

function readNamed(named: Readonly<Record<string, string>>, places: number, path: string): string[] {
  const unknown = Object.keys(named).find(key => !isPlaceholder(key, places))
  if (unknown !== undefined) {
    throw invalid(
      path + pathStep(unknown),
      `is not a placeholder of this template, which has ${count(places, 'placeholder')}`,
    )
  }
  return Array.from({ length: places }, (_, at) => {
    const value = Object.hasOwn(named, at + 1) ? named[at + 1] : undefined
    if (value === undefined)
      throw invalid(path, `has no value "${at + 1}": the template has ${count(places, 'placeholder')}`)
    return value
  })
}

function isPlaceholder(key: string, places: number): boolean {
  return /^[1-9][0-9]{0,2}$/.test(key) && Number(key) <= places
}

/** A whole URL: appended to the button's own URL it would not work. */
const FULL_URL = /^https?:\/\//i

/** The parts of a template that take the values of its buttons. */
type Buttons = { spec: Pick<TemplateSpec, 'otp'>; valueButtons: readonly ValueButton[] }

/**
 * A value for each button that needs one, in the order of the buttons; the button of an official OTP, which copies the
 * code or fills it in, has the code, the first of `values`. Throws a 400 that names the field.
 */
export function readButtonValues(
  given: readonly GivenButton[] | undefined,
  { spec, valueButtons }: Buttons,
  values: readonly string[],
  base: string,
): ButtonValue[] {
  const path = `${base}buttonVariables`
  return spec.otp ? readCodeButton(given, values[0]!, path) : readGivenButtons(given, valueButtons, path)
}

function readCodeButton(
  given: readonly GivenButton[] | undefined,
  code: string,
  path: string,
): ButtonValue[] {
  given?.forEach(({ index, text }, at) => {
    if (index !== 0) throw invalid(`${path}[${at}].index`, `button ${index} takes no value`)
    if (text !== code) throw invalid(`${path}[${at}].text`, 'must be the code itself')
  })
  return [{ index: 0, subType: 'url', text: code }]
}

function readGivenButtons(
  given: readonly GivenButton[] | undefined,
  valueButtons: readonly ValueButton[],
  path: string,
): ButtonValue[] {
  const byIndex = new Map<number, string>()
  given?.forEach(({ index, subType, text }, at) => {
    const button = valueButtons.find(each => each.index === index)
    if (!button)
      throw invalid(`${path}[${at}].index`, `the template has no button ${index} that takes a value`)
    if (byIndex.has(index)) throw invalid(`${path}[${at}].index`, `${index} is given twice`)
    if (subType !== undefined && subType !== button.subType) {
      throw invalid(`${path}[${at}].subType`, `must be ${button.subType} for this button`)
    }
    if (text === '') throw invalid(`${path}[${at}].text`, 'must not be empty')
    if (button.subType === 'url' && FULL_URL.test(text)) {
      throw invalid(`${path}[${at}].text`, 'must be the end of the button’s URL, not a whole URL')
    }
    byIndex.set(index, text)
  })
  return valueButtons.map(({ index, subType }) => {
    const text = byIndex.get(index)
    if (text === undefined) throw invalid(path, `has no value for the button with index ${index}`)
    return { index, subType, text }
  })
}

/** Throws a 400 for values that providers of official templates refuse. `given` decides the path of the fault. */
export function checkOfficialValues(values: readonly string[], given: GivenValues, base: string): void {
  values.forEach((value, at) => {
    const path = given.variablesNamed
      ? `variablesNamed${pathStep(String(at + 1))}`
      : `variablesIndexed${pathStep(at)}`
    if (value.trim() === '') throw invalid(base + path, 'must not be empty')
    if (/[\n\r\t]| {5}/.test(value)) {
      throw invalid(base + path, 'must not have line breaks, tabs or more than four spaces in a row')
    }
  })
}

function count(number: number, word: string): string {
  return number === 1 ? `1 ${word}` : `${number} ${word}s`
}
