import type { Follower } from './followers.ts'

/** An event for a client that follows a list; `cursor` is where it continues after a reconnect. */
export type ListEvent<Item> =
  /** The item as it is now; several changes at once are one event. */
  | { kind: 'message'; cursor: string; message: Item }
  /** Too much has changed, or it is unknown what has: the client must read the list again. */
  | { kind: 'reset'; cursor: string }
  /** A heartbeat. */
  | { kind: 'beat'; cursor: string }

/** The events with heartbeats, which carry the current cursor once that is known. */
export async function* withHeartbeats<Subject, Item>(
  { events, subject }: Follower<Subject, ListEvent<Item>>,
  cursorOf: (subject: Subject) => string | null,
): AsyncGenerator<ListEvent<Item>> {
  for await (const event of events) {
    const cursor = event ? null : cursorOf(subject)
    if (event) yield event
    else if (cursor !== null) yield { kind: 'beat', cursor }
  }
}
