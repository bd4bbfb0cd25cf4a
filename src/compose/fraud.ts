import { type Guard, openGuard } from '../core/fraud/guard.ts'
import type { Foundation } from './foundation.ts'

export type FraudRooms = { guard: Guard }

/** What stands between verification codes and those who would pump them. */
export function createFraudRooms(_base: Foundation): FraudRooms {
  return { guard: openGuard }
}
