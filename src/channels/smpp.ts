import type { InboundMessage } from '../contract/reported-message.ts'
import type { Io, Link, Outcome, Outgoing, Provider, Receipt } from './provider.ts'
import { randomEventId, SMS_POLICY } from './shared/sms.ts'
import { type SmppConfig, smppConfig, withDefaults } from './smpp/config.ts'
import { readMessage } from './smpp/inbound.ts'
import { createPool } from './smpp/pool.ts'
import { createReceiptIds } from './smpp/receipt-ids.ts'
import { isReceipt, type ParsedReceipt, readReceipt } from './smpp/receipts.ts'
import { createSender } from './smpp/sender.ts'
import type { Delivery } from './smpp/session.ts'
import { explainStatus, STATUS } from './smpp/status.ts'
import { createUnmarkedReceipts } from './smpp/unmarked-receipts.ts'

/**
 * SMS over SMPP 3.4: several binds with a window each, kept up with
 * enquire_link and reconnects, and delivery receipts. The SMSC (message centre) knows nothing
 * of our attempt ids and cannot be queried by them, so this provider neither dedupes nor finds.
 */
export const smppProvider: Provider<SmppConfig> = {
  key: 'smpp',
  channels: ['local_sms', 'int_sms'],
  policy: SMS_POLICY,
  config: smppConfig,
  secrets: ['password'],
  dedupes: false,
  explain: explainStatus,
  open: (config, io) => Promise.resolve(openLink(config, io)),
}

function openLink(config: SmppConfig, io: Io): Link {
  const settings = withDefaults(config)
  const ids = createReceiptIds(settings.receiptIdFormat)
  const unmarked = createUnmarkedReceipts(ids, io)

  let knowsEarlierIds = settings.receiptIdFormat === 'same'
  let readingEarlierIds: Promise<void> | null = null
  // If this fails, the first receipt tries again.
  if (!knowsEarlierIds) learnEarlierIds().catch(() => {})

  /** Resolves to the command_status of the response. Where it rejects, the SMSC delivers the PDU again later. */
  async function onDelivery(delivery: Delivery): Promise<number> {
    const inbound = await read(delivery)
    if (inbound) await io.emit([inbound])
    return STATUS.ok
  }

  async function read(delivery: Delivery): Promise<Receipt | InboundMessage | null> {
    const isMarked = isReceipt(delivery)
    const candidate = isMarked ? null : unmarked.candidateIn(delivery)
    if (!isMarked && !candidate) return messageIn(delivery)
    if (!knowsEarlierIds) await learnEarlierIds()
    if (!candidate) return receiptIn(delivery)
    const id = await unmarked.submittedId(candidate, delivery)
    if (id === null) return messageIn(delivery)
    // Now that it is one, what its id shows is learned.
    ids.resolve(candidate)
    return toReceipt(candidate, id)
  }

  /** Until the first submit, nothing else shows how the SMSC spells its ids. */
  function learnEarlierIds(): Promise<void> {
    readingEarlierIds ??= readEarlierIds().finally(() => {
      readingEarlierIds = null
    })
    return readingEarlierIds
  }

  async function readEarlierIds(): Promise<void> {
    const earlier = await io.earlierIds()
    // A message of several parts has the ids of its parts.
    ids.recordEarlier(earlier.flatMap(id => id.split(',')))
    knowsEarlierIds = true
  }

  /** Null for a receipt that names no message or no known state. */
  function receiptIn(delivery: Delivery): Receipt | null {
    const read = readReceipt(delivery)
    if (read) return toReceipt(read, ids.resolve(read))
    io.log.warn({}, 'smpp: a receipt without an id or a known state was acknowledged and dropped')
    return null
  }

  function messageIn(delivery: Delivery): InboundMessage | null {
    const message = readMessage(delivery, settings, () => randomEventId(io.random))
    if (!message) {
      const { dataCoding } = delivery.message
      io.log.warn({ dataCoding }, 'smpp: an inbound message that is not text was acknowledged and dropped')
    }
    return message
  }

  /** Reports the answer to a submit that had timed out, so that the unknown attempt gets its outcome. */
  function reportLate({ accountId, attemptId }: Outgoing, outcome: Outcome): void {
    io.reportLateOutcome({ accountId, attemptId, outcome }).catch(error => {
      io.log.warn({ err: error, attemptId }, 'smpp: the outcome of a late response could not be stored')
    })
  }

  const pool = createPool({ settings, io, onDelivery })
  const sender = createSender({
    settings,
    pool,
    clock: io.clock,
    onAccepted(id, { to }) {
      ids.recordSubmitted(id)
      unmarked.recordSubmitted(id, to)
    },
    onLateOutcome: reportLate,
    firstReference: io.random.bytes(1)[0]!,
  })

  return {
    concurrency: settings.window * settings.binds,
    ...(settings.messagesPerSecond === undefined ? {} : { messagesPerSecond: settings.messagesPerSecond }),
    send: sender.send,
    test: pool.probe,
    retryNow: pool.retryNow,
    close: pool.close,
  }
}

function toReceipt({ id, exact: _exact, ...said }: ParsedReceipt, providerId: string): Receipt {
  return { kind: 'receipt', providerId, ...said }
}
