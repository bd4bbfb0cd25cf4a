import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/channels/provider.ts'
import {
  afterOutcome,
  afterReport,
  afterStart,
  afterWithdrawal,
  type Circuit,
  CLOSED,
  createCircuits,
  FAILURES_TO_OPEN,
  phaseOf,
} from '../../src/workers/circuit.ts'
import { createFakeClock } from '../support/fake-clock.ts'

/** Always draws the longest wait. */
const random = { fraction: () => 1, bytes: (length: number) => Buffer.alloc(length) }

const retry: Outcome = { kind: 'retry', detail: 'not reached' }
const unreadableFile: Outcome = { kind: 'retry', detail: 'no file', notAsked: true }
const fullMailbox: Outcome = { kind: 'retry', detail: 'mailbox full', fault: 'recipient' }
const unavailable: Outcome = { kind: 'rejected', code: 'PROVIDER_UNAVAILABLE', detail: 'closed' }
const refused: Outcome = { kind: 'rejected', code: 'RECIPIENT_REJECTED', detail: 'no such number' }
const accepted: Outcome = { kind: 'accepted', providerId: '1' }
const throttled: Outcome = { kind: 'throttled', afterMs: 1_000 }
const unknown: Outcome = { kind: 'unknown', detail: 'no answer' }

const having = (circuit: Circuit, outcomes: Outcome[], nowMs = 0) =>
  outcomes.reduce((at, outcome) => afterOutcome(at, outcome, nowMs, random), circuit)
const failed = (count: number) => Array.from({ length: count }, () => retry)
const opened = having(CLOSED, failed(FAILURES_TO_OPEN))

describe('a closed circuit', () => {
  test('opens after consecutive failures of either kind', () => {
    expect(phaseOf(having(CLOSED, failed(FAILURES_TO_OPEN - 1)), 0)).toBe('closed')
    expect(phaseOf(opened, 0)).toBe('open')
    expect(phaseOf(having(CLOSED, [...failed(FAILURES_TO_OPEN - 1), unavailable]), 0)).toBe('open')
  })

  test.each([
    ['an accepted message', accepted],
    ['a rejection for a reason in the message itself', refused],
    ['a throttled message', throttled],
    ['a message that is to be tried again for the recipient’s or sender’s sake', fullMailbox],
  ])('%s resets the count of failures', (_, outcome) => {
    const almost = failed(FAILURES_TO_OPEN - 1)
    expect(phaseOf(having(CLOSED, [...almost, outcome, ...almost]), 0)).toBe('closed')
  })

  test('an unknown outcome neither counts as a failure nor resets the count', () => {
    const almost = failed(FAILURES_TO_OPEN - 1)
    expect(phaseOf(having(CLOSED, Array(50).fill(unknown)), 0)).toBe('closed')
    expect(phaseOf(having(CLOSED, [...almost, unknown, retry]), 0)).toBe('open')
  })

  test('stays closed whatever number of recipients refuse messages for now', () => {
    expect(phaseOf(having(CLOSED, Array(50).fill(fullMailbox)), 0)).toBe('closed')
  })

  test('a file that could not be read neither counts as a failure nor resets the count', () => {
    const almost = failed(FAILURES_TO_OPEN - 1)
    expect(phaseOf(having(CLOSED, Array(50).fill(unreadableFile)), 0)).toBe('closed')
    expect(phaseOf(having(CLOSED, [...almost, unreadableFile, retry]), 0)).toBe('open')
  })
})

describe('an open circuit', () => {
  test('is half open after its wait: 1 s, doubled with each failed probe, up to 60 s', () => {
    const waits: number[] = []
    let circuit = opened
    let nowMs = 0
    for (let probes = 0; probes < 9; probes++) {
      waits.push(circuit.openUntilMs - nowMs)
      expect(phaseOf(circuit, circuit.openUntilMs - 1)).toBe('open')
      nowMs = circuit.openUntilMs
      expect(phaseOf(circuit, nowMs)).toBe('half_open')
      circuit = afterOutcome(afterStart(circuit, nowMs), retry, nowMs, random)
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  })

  test('lets one message through as a probe, and no other until its outcome', () => {
    const probed = afterStart(opened, 1_000)
    expect(phaseOf(probed, 1_000)).toBe('open')
    expect(phaseOf(probed, 30_000)).toBe('open')
    expect(phaseOf(afterOutcome(probed, accepted, 1_500, random), 1_500)).toBe('closed')
    expect(phaseOf(afterOutcome(probed, retry, 1_500, random), 1_500)).toBe('open')
    // An unknown outcome does not close the circuit; the next probe has the same wait as after a failure.
    const unsure = afterOutcome(probed, unknown, 1_500, random)
    expect(phaseOf(unsure, 1_500)).toBe('open')
    expect(unsure.openUntilMs).toBe(afterOutcome(probed, retry, 1_500, random).openUntilMs)
    expect(phaseOf(afterWithdrawal(probed, 1_500), 1_500)).toBe('half_open')
  })

  test('ignores failures of messages that were submitted before it opened', () => {
    const later = having(opened, failed(20), 500)
    expect(later.openUntilMs).toBe(opened.openUntilMs)
  })

  test('closes with any accepted message', () => {
    expect(having(opened, [accepted], 10)).toEqual(CLOSED)
    // Failures are counted from zero again.
    expect(phaseOf(having(having(opened, [accepted], 10), [retry], 20), 20)).toBe('closed')
  })
})

describe('a report of the link', () => {
  test('that it is down opens the circuit, and that it is up again allows a probe at once', () => {
    const up = afterReport(CLOSED, 'up', 0, random)
    expect(phaseOf(up, 0)).toBe('closed')
    const down = afterReport(up, 'down', 100, random)
    expect(phaseOf(down, 100)).toBe('open')
    expect(afterReport(down, 'down', 200, random)).toEqual(down)
    const works = afterOutcome(down, accepted, 150, random)
    expect(phaseOf(afterReport(works, 'down', 200, random), 200)).toBe('closed')
    expect(phaseOf(afterReport(down, 'up', 200, random), 200)).toBe('half_open')
  })

  test('that it is up, without having been down, leaves an open circuit open', () => {
    const connecting = having({ ...CLOSED, link: 'connecting' }, failed(FAILURES_TO_OPEN))
    expect(phaseOf(afterReport(connecting, 'up', 10, random), 10)).toBe('open')
  })
})

describe('the circuits of a node', () => {
  function create() {
    const clock = createFakeClock()
    return { clock, circuits: createCircuits({ clock, random }) }
  }

  test('are separate for each connection, and ready unless open or probing', async () => {
    const { circuits, clock } = create()
    for (let at = 0; at < FAILURES_TO_OPEN; at++) circuits.ended('cnn_a', retry)
    expect([circuits.ready('cnn_a'), circuits.ready('cnn_b')]).toEqual([false, true])
    await clock.advance(1_000)
    expect([circuits.ready('cnn_a'), circuits.phase('cnn_a')]).toEqual([true, 'half_open'])
    circuits.started('cnn_a')
    expect(circuits.ready('cnn_a')).toBe(false)
    circuits.withdrawn('cnn_a')
    expect(circuits.ready('cnn_a')).toBe(true)
    circuits.started('cnn_a')
    circuits.ended('cnn_a', accepted)
    expect(circuits.phase('cnn_a')).toBe('closed')
  })

  test('are closed for a new link, and ignore reports of the replaced one', () => {
    const { circuits } = create()
    const old = circuits.opened('cnn_a')
    old('down')
    expect(circuits.ready('cnn_a')).toBe(false)
    const report = circuits.opened('cnn_a')
    expect(circuits.ready('cnn_a')).toBe(true)
    old('down')
    expect(circuits.ready('cnn_a')).toBe(true)
    report('down')
    expect(circuits.ready('cnn_a')).toBe(false)
  })
})
