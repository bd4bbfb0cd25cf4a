import type { Follower } from './followers.ts'

/** What whoever follows a list is told; `mark` is where they go on after a break. */
export type ListNews<Item> =
  /** As it is now; of several steps at once the last. */
  | { kind: 'message'; mark: string; message: Item }
  /** More has happened than is told, or nobody knows what has: read the list anew. */
  | { kind: 'reset'; mark: string }
  /** Nothing for a while. */
  | { kind: 'beat'; mark: string }

/** What one who follows is told: a line on which nothing is said brings where it stands, too, once that is known. */
export async function* withBeats<Subject, Item>(
  { events, subject }: Follower<Subject, ListNews<Item>>,
  markOf: (subject: Subject) => string | null,
): AsyncGenerator<ListNews<Item>> {
  for await (const news of events) {
    const mark = news ? null : markOf(subject)
    if (news) yield news
    else if (mark !== null) yield { kind: 'beat', mark }
  }
}
