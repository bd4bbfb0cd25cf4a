import type { EventEmitter } from 'node:events'

type Listener = (...given: unknown[]) => unknown

/**
 * The library listens to its socket with async functions whose failures nobody hears: one frame that
 * cannot be read would end the process. Whatever listens by now is made to tell `fault` instead.
 */
export function guardListeners(emitter: EventEmitter, fault: (error: unknown) => void): void {
  for (const event of emitter.eventNames()) {
    const listeners = emitter.listeners(event) as Listener[]
    emitter.removeAllListeners(event)
    for (const listener of listeners) emitter.on(event, guarded(listener, emitter, fault))
  }
}

function guarded(listener: Listener, emitter: EventEmitter, fault: (error: unknown) => void): Listener {
  return (...given) => {
    try {
      const result = listener.apply(emitter, given)
      if (result instanceof Promise) result.catch(fault)
    } catch (error) {
      fault(error)
    }
  }
}
