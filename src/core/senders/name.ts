import { invalid } from '../../contract/errors.ts'

/** An alphanumeric sender id as in GSM networks, or a short or long number. */
const NAME = /^(?=.*[A-Za-z])[A-Za-z0-9 ._-]{3,11}$|^[0-9]{3,15}$/

/** Throws VALIDATION_ERROR for an invalid sender id. */
export function checkSenderName(name: string): void {
  if (NAME.test(name)) return
  throw invalid('name', 'must be 3–11 letters, digits, spaces, ., - or _ with a letter, or 3–15 digits')
}
