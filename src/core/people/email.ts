import { invalid } from '../../contract/errors.ts'

/** Text on both sides of the last @, without characters that could end a mail header. */
const EMAIL =
  /^[^\s\p{Cc}@"(),:;<>[\\\]]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}.-]{0,251}[\p{L}\p{M}\p{N}])?$/u

/** The form in which addresses are compared: there is one login per key. */
export function emailKey(email: string): string {
  // Normalised last, too: some letters have a composed form in lower case only (ǰ).
  return email.trim().normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** The address as it is stored; throws VALIDATION_ERROR for an invalid one. */
export function readEmail(email: string): string {
  const trimmed = email.trim()
  if (EMAIL.test(trimmed)) return trimmed
  throw invalid('email', 'must be an e-mail address')
}

/** Throws VALIDATION_ERROR for a password that is the e-mail address. */
export function checkNewPassword(path: string, password: string, email: string): void {
  if (emailKey(password) === emailKey(email)) throw invalid(path, 'must not be the e-mail address')
}
