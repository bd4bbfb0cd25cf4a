import type { Outcome, Outgoing } from '../provider.ts'

/** No SMS can be made of it, wherever it is sent; null for one that can. */
export function unsendable({ files, text }: Outgoing): Outcome | null {
  if (files.length > 0) return rejected('MESSAGE_REJECTED', 'An SMS carries no files.')
  return text === '' ? rejected('MESSAGE_REJECTED', 'The message has no text.') : null
}

export const NO_SENDER: Outcome = rejected(
  'SENDER_REJECTED',
  'Neither the message nor the connection names a sender.',
)

export function rejected(code: 'MESSAGE_REJECTED' | 'SENDER_REJECTED', detail: string): Outcome {
  return { kind: 'rejected', code, detail }
}

/** A number as most interfaces want it: without its plus. Names stay as they are. */
export function withoutPlus(address: string): string {
  return address.replace(/^\+(?=\d+$)/, '')
}

/** A number in E.164 with its plus; short codes and names stay as they are. */
export function withPlus(address: string): string {
  return /^\d{7,15}$/.test(address) ? `+${address}` : address
}
