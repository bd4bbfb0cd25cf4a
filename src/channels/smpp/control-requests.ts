import type { Clock } from '../../lib/clock.ts'
import { COMMAND } from './pdu.ts'
import type { Pdu } from './pdu-read.ts'

/** The binds, enquire_links and unbinds of one session that wait for their response, by sequence number. */
export type ControlRequests = {
  /** Null when no response comes in time. */
  await(number: number, response: number, timeoutMs: number): Promise<Pdu | null>
  has(number: number): boolean
  /** False where the response is of another command than the request. */
  settle(pdu: Pdu): boolean
  /** No response will come any more. */
  end(): void
}

export function createControlRequests(clock: Pick<Clock, 'after'>): ControlRequests {
  const waiting = new Map<number, { response: number; resolve(pdu: Pdu | null): void }>()

  return {
    await(number, response, timeoutMs) {
      return new Promise(settled => {
        const resolve = (pdu: Pdu | null): void => {
          cancel()
          waiting.delete(number)
          settled(pdu)
        }
        const cancel = clock.after(timeoutMs, () => resolve(null))
        waiting.set(number, { response, resolve })
      })
    },
    has: number => waiting.has(number),
    settle(pdu) {
      const request = waiting.get(pdu.sequence)
      const fits = pdu.command === request?.response || pdu.command === COMMAND.genericNack
      if (fits) request?.resolve(pdu)
      return fits
    },
    end() {
      for (const { resolve } of waiting.values()) resolve(null)
    },
  }
}
