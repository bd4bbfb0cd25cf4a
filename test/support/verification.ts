import type { VerificationAttempt, VerificationView } from '../../src/contract/verification.ts'
import type { Answer, TestAccount, TestApp } from './app.ts'

type Options = { live?: boolean; idempotencyKey?: string }

export type Verifications = {
  /** `POST /api/v2/verification/…`; time advances until the response. */
  post(operation: 'send' | 'resend' | 'verify', body: unknown, options?: Options): Promise<Answer>
  /** A `send` that must succeed. */
  start(body: unknown, options?: Options): Promise<VerificationAttempt>
  read(id: string): Promise<VerificationView>
}

export function verifications(app: TestApp, account: TestAccount): Verifications {
  const post: Verifications['post'] = (operation, body, { live = false, idempotencyKey } = {}) =>
    app.during(
      app.call(`/api/v2/verification/${operation}`, {
        method: 'POST',
        key: live ? account.liveKey : account.testKey,
        headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
        body,
      }),
    )
  return {
    post,
    async start(body, options) {
      const answer = await post('send', body, options)
      if (answer.status !== 200) throw new Error(`not started: ${answer.status} ${answer.text}`)
      return answer.body as VerificationAttempt
    },
    read: id => account.read<VerificationView>(`/api/v2/verification/${id}`),
  }
}

/** On a busy machine, a start that was answered with `queued` reaches the sandbox only after some reads. */
const MAX_LOOKS = 200

/** The last code in the sandbox for a recipient. */
export async function codeFor(account: TestAccount, to: string): Promise<string> {
  for (let look = 0; look < MAX_LOOKS; look++) {
    const [last] = await account.inbox(to)
    const code = /\d{4,8}/.exec(last?.text ?? '')?.[0]
    if (code) return code
  }
  throw new Error(`no code for ${to}`)
}

/** A wrong code of the same length; `n`, from 1 to 9, gives different ones. */
export function wrongCode(code: string, n = 1): string {
  return code.replace(/^./, digit => String((Number(digit) + n) % 10))
}

let phones = 0
/** A number in the United States that no test of the file has used. */
export function nextPhone(): string {
  return `+1202555${2_000 + phones++}`
}
