import type { LinkState, Outcome } from '../channels/provider.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConnectionId } from '../lib/ids.ts'
import type { Random } from '../lib/random.ts'

/**
 * The circuit breaker of a connection: what its last attempts show. Times are of the
 * monotonic clock, in ms.
 */
export type Circuit = {
  /** Attempts in a row that failed by a fault of the connection. */
  failures: number
  /** How often it opened without having closed in between; 0 is closed. */
  openings: number
  /** Open until then, half open after it. */
  openUntilMs: number
  /** A message is in progress that tests whether it works again. */
  probing: boolean
  link: LinkState['state']
}

export type CircuitPhase = 'closed' | 'open' | 'half_open'

/** Failures in a row that open it. */
export const FAILURES_TO_OPEN = 5
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 60_000

export const CLOSED: Circuit = {
  failures: 0,
  openings: 0,
  openUntilMs: 0,
  probing: false,
  link: 'connecting',
}

export function phaseOf(circuit: Circuit, nowMs: number): CircuitPhase {
  if (circuit.openings === 0) return 'closed'
  return nowMs < circuit.openUntilMs ? 'open' : 'half_open'
}

/** An attempt starts. The first one over a half open circuit is its probe; meanwhile no other may start. */
export function afterStart(circuit: Circuit, nowMs: number): Circuit {
  if (phaseOf(circuit, nowMs) !== 'half_open') return circuit
  return { ...circuit, probing: true, openUntilMs: nowMs + MAX_WAIT_MS }
}

/** An attempt that had started is not made after all: another one may be the probe. */
export function afterWithdrawal(circuit: Circuit, nowMs: number): Circuit {
  return circuit.probing ? { ...circuit, probing: false, openUntilMs: nowMs } : circuit
}

/** An attempt has ended. */
export function afterOutcome(circuit: Circuit, outcome: Outcome, nowMs: number, random: Random): Circuit {
  switch (outcome.kind) {
    case 'unknown':
      return circuit.probing ? open(circuit, nowMs, random) : circuit
    case 'accepted':
    case 'throttled':
      return { ...CLOSED, link: circuit.link }
    case 'rejected':
      // A connection that rejects a message for its content works.
      if (outcome.code !== 'PROVIDER_UNAVAILABLE') return { ...CLOSED, link: circuit.link }
      return afterFailure(circuit, nowMs, random)
    case 'retry':
      // One account's unreadable files, recipients or senders must not close a connection to the others.
      if (outcome.fault) return { ...CLOSED, link: circuit.link }
      return outcome.notAsked ? afterWithdrawal(circuit, nowMs) : afterFailure(circuit, nowMs, random)
  }
}

function afterFailure(circuit: Circuit, nowMs: number, random: Random): Circuit {
  const failures = circuit.failures + 1
  const opens =
    circuit.openings === 0
      ? failures >= FAILURES_TO_OPEN
      : // Attempts that started before it opened show nothing new.
        circuit.probing || phaseOf(circuit, nowMs) === 'half_open'
  return opens ? open({ ...circuit, failures }, nowMs, random) : { ...circuit, failures }
}

/** The link has reported its state: `down` opens the circuit at once, and `up` after it allows a probe at once. */
export function afterReport(
  circuit: Circuit,
  link: LinkState['state'],
  nowMs: number,
  random: Random,
): Circuit {
  const before = circuit.link
  const reported = { ...circuit, link }
  if (link === before) return reported
  if (link === 'down' && circuit.openings === 0) return open(reported, nowMs, random)
  if (link === 'up' && before === 'down') return { ...reported, probing: false, openUntilMs: nowMs }
  return reported
}

function open(circuit: Circuit, nowMs: number, random: Random): Circuit {
  const openings = circuit.openings + 1
  const waitMs = backoffMs(FIRST_WAIT_MS, openings, random, MAX_WAIT_MS)
  return { ...circuit, openings, probing: false, openUntilMs: nowMs + waitMs }
}

/** The circuits of this node's connections, in memory: nodes do not share them. */
export type Circuits = {
  /** Whether it accepts messages: closed, or due for a probe. */
  ready(id: ConnectionId): boolean
  started(id: ConnectionId): void
  withdrawn(id: ConnectionId): void
  ended(id: ConnectionId, outcome: Outcome): void
  phase(id: ConnectionId): CircuitPhase
  /** A new link is opened, which resets the circuit. Returns the function that takes the state reports of this link; those of older links are ignored. */
  opened(id: ConnectionId): (link: LinkState['state']) => void
  forget(id: ConnectionId): void
}

export function createCircuits({ clock, random }: { clock: Clock; random: Random }): Circuits {
  /** Only circuits that differ from CLOSED. */
  const circuits = new Map<ConnectionId, Circuit>()
  const circuitOf = (id: ConnectionId) => circuits.get(id) ?? CLOSED
  const listening = new Map<ConnectionId, object>()

  return {
    ready: id => phaseOf(circuitOf(id), clock.monotonic()) !== 'open',
    started(id) {
      const circuit = circuitOf(id)
      if (circuit.openings > 0) circuits.set(id, afterStart(circuit, clock.monotonic()))
    },
    withdrawn(id) {
      if (circuitOf(id).probing) circuits.set(id, afterWithdrawal(circuitOf(id), clock.monotonic()))
    },
    ended(id, outcome) {
      const circuit = circuitOf(id)
      // The usual case: it worked before, and still does.
      if (outcome.kind === 'accepted' && circuit.failures === 0 && circuit.openings === 0) return
      circuits.set(id, afterOutcome(circuit, outcome, clock.monotonic(), random))
    },
    phase: id => phaseOf(circuitOf(id), clock.monotonic()),
    opened(id) {
      const registration = {}
      listening.set(id, registration)
      circuits.delete(id)
      return link => {
        if (listening.get(id) === registration)
          circuits.set(id, afterReport(circuitOf(id), link, clock.monotonic(), random))
      }
    },
    forget(id) {
      circuits.delete(id)
      listening.delete(id)
    },
  }
}
