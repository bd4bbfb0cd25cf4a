import type { EventEmitter } from 'node:events'

type Listener = (...given: unknown[]) => unknown

/**
 * The library's socket listeners are async functions whose rejections are not handled: one unreadable frame
 * would end the process. Wraps the present listeners, so that rejections go to `fault`.
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
