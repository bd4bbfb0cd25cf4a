import smpp, { type Session } from 'smpp'
import { createSignals } from '../../support/signals.ts'
import { type Answer, type Smsc, type Submit, startSmsc } from '../../support/smsc.ts'

/** An SMSC that records every message it accepted, and sends a receipt for each that it answered. */
export type ProviderRecord = {
  port: number
  /** Accepted messages by text, with the ids given to them. */
  taken: ReadonlyMap<string, string[]>
  /** The number of submits that came, accepted or not. */
  submits(): number
  /** Receipts that were acknowledged, by the id they are for. */
  heard: ReadonlySet<string>
  /** Answers everything that is outstanding, and sends unacknowledged receipts again. */
  settle(): void
  /** Called with every submit, before it is answered. */
  onSubmit(listener: (nth: number) => void): void
  close(): Promise<void>
}

/** What it does with a submit: takes it now, takes it and answers a little later, or refuses with a status. */
export type Reaction = 'take' | 'take, answer late' | number

const RECEIPT = 0x04
const DELIVERED = 2

export async function startProviderRecord(
  react: (submit: Submit, nth: number) => Reaction,
): Promise<ProviderRecord> {
  const signals = createSignals()
  const taken = new Map<string, string[]>()
  const heard = new Set<string>()
  /** Receipts that wait for their acknowledgement. */
  const owed = new Map<string, Submit>()
  const late: { submit: Submit; id: string }[] = []
  const listeners: ((nth: number) => void)[] = []
  let latest: Session | null = null
  let count = 0

  const answer: Answer = (submit, nth) => {
    count = nth
    if (submit.session !== latest) greet(submit.session)
    for (const listener of listeners) listener(nth)
    const reaction = react(submit, nth)
    if (typeof reaction === 'number') return { status: reaction }
    const id = take(submit)
    // Delayed responses go out with later submits, without a timer; at most five wait.
    while (late.length > 4) release(late.shift()!)
    if (reaction === 'take, answer late') {
      late.push({ submit, id })
      return null
    }
    report(submit.session, id, submit)
    return { id }
  }
  const smsc: Smsc = await startSmsc(answer)

  function take(submit: Submit): string {
    const id = `taken-${count}`
    taken.set(submit.text, [...(taken.get(submit.text) ?? []), id])
    signals.notify()
    return id
  }

  /**
   * Sends a new session the receipts that were not acknowledged, as SMSCs do; late responses of the old one
   * are lost.
   */
  function greet(session: Session): void {
    latest = session
    late.length = 0
    for (const [id, submit] of owed) report(session, id, submit)
  }

  function release({ submit, id }: { submit: Submit; id: string }): void {
    submit.session.send(new smpp.PDU('submit_sm_resp', { message_id: id, sequence_number: submit.sequence }))
    report(submit.session, id, submit)
  }

  function report(session: Session, id: string, submit: Submit): void {
    owed.set(id, submit)
    const receipt = new smpp.PDU('deliver_sm', {
      esm_class: RECEIPT,
      source_addr: submit['destination_addr'],
      destination_addr: submit['source_addr'],
      receipted_message_id: id,
      message_state: DELIVERED,
      short_message: `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:`,
    })
    session.send(receipt, response => {
      if (response.command_status !== 0) return
      owed.delete(id)
      heard.add(id)
      signals.notify()
    })
  }

  return {
    port: smsc.port,
    taken,
    submits: () => count,
    heard,
    settle() {
      for (const each of late.splice(0)) release(each)
      if (latest) for (const [id, submit] of owed) report(latest, id, submit)
    },
    onSubmit: listener => void listeners.push(listener),
    close: smsc.close,
  }
}
