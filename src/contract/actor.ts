import { type Static, Type } from 'typebox'
import type { Id } from '../lib/ids.ts'
import type { Caller } from './caller.ts'
import { nullable } from './envelope.ts'

export const ACTORS = ['user', 'api_key', 'operator_token'] as const

/** The person, key or operator who did something, in the API's form. */
export const ActorView = Type.Object({
  type: Type.Enum(ACTORS),
  id: nullable(Type.String({ description: 'usr_… or key_…; null for the operator token' })),
  name: Type.String({ description: 'The name at the time' }),
})
export type ActorView = Static<typeof ActorView>

/** ActorView with a typed id. */
export type Actor = Omit<ActorView, 'id'> & { id: Id<'usr'> | Id<'key'> | null }

/** A person has no key prefix. */
export function actorOfCaller({ keyId, keyName, keyPrefix }: Caller): Actor {
  return { type: keyPrefix === '' ? 'user' : 'api_key', id: keyId, name: keyName }
}
