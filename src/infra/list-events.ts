import type { Follower } from './followers.ts'

/** An event for a client that follows a list; `mark` is where it continues after a reconnect. */
export type ListNews<Item> =
  /** The item as it is now; several changes at once are one event. */
  | { kind: 'message'; mark: string; message: Item }
  /** Too much has changed, or it is unknown what has: the client must read the list again. */
  | { kind: 'reset'; mark: string }
  /** A heartbeat. */
  | { kind: 'beat'; mark: string }

/** The events with heartbeats, which carry the current mark once that is known. */
export async function* withBeats<Subject, Item>(
  { events, subject }: Follower<Subject, ListNews<Item>>,
  cursorOf: (subject: Subject) => string | null,
): AsyncGenerator<ListNews<Item>> {
  for await (const event of events) {
    const mark = event ? null : cursorOf(subject)
    if (event) yield event
    else if (mark !== null) yield { kind: 'beat', mark }
  }
}
