import { invalid } from '../../contract/errors.ts'

/** What stands on both sides of the last @, and nothing that could end a header. */
const EMAIL =
  /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}.-]{0,251}[\p{L}\p{M}\p{N}])?$/u

/** As it is compared: an address has one login. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFKC').toLowerCase()
}

/** The address as it is kept; throws VALIDATION_ERROR for what is none. */
export function readEmail(email: string): string {
  const trimmed = email.trim()
  if (EMAIL.test(trimmed)) return trimmed
  throw invalid('email', 'must be an e-mail address')
}

/** A password that is the address is none. */
export function checkNewPassword(path: string, password: string, email: string): void {
  if (emailKey(password) === emailKey(email)) throw invalid(path, 'must not be the e-mail address')
}
