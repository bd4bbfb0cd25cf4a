import type { Clock } from '../lib/clock.ts'
import type { AccountId } from '../lib/ids.ts'
import { createFollowers, type Follower, type FollowersOptions } from './followers.ts'
import type { ListEvent } from './list-events.ts'

/** A client of such a stream. */
export type ListFollower<Subject, Item> = Pick<Follower<Subject, ListEvent<Item>>, 'subject' | 'push'>

/**
 * Event streams of lists, each of which belongs to an account. The streams of an account on this node share a tail: what of
 * its list was sent to all of them. So each change is read once, however many streams there are.
 */
export type ListStreams<Subject, Item, Tail> = {
  /** Opens a stream; null if too many are open. */
  follow(subject: Subject, gone: AbortSignal): Promise<AsyncGenerator<ListEvent<Item>> | null>
  /** The account's tail; opens one if it has none. */
  tailOf(accountId: AccountId): Promise<Tail>
  /** Ends all streams, for a shutdown. */
  close(): void
}

export type ListStreamsOptions<Subject, Item, Tail, Found> = Pick<
  FollowersOptions<Subject, ListEvent<Item>>,
  'pollIntervalMs' | 'queue'
> & {
  clock: Clock
  accountOf(subject: Subject): AccountId
  /** A tail that begins at the present end of the account's list. */
  openTail(accountId: AccountId): Promise<Tail>
  /** Where a stream continues that has received all up to the tail. */
  cursorOf(tail: Tail): string
  /** Pushes the first events of a stream. */
  begin(follower: ListFollower<Subject, Item>): Promise<void>
  /** Reads what the tails do not have yet. */
  read(tails: readonly Tail[]): Promise<Found>
  /** Pushes what was found for one tail to its followers, and advances the tail. */
  send(tail: Tail, found: Found, followers: readonly ListFollower<Subject, Item>[]): Promise<void>
}

export function createListStreams<Subject, Item, Tail extends { accountId: AccountId }, Found>(
  options: ListStreamsOptions<Subject, Item, Tail, Found>,
): ListStreams<Subject, Item, Tail> {
  type Client = Follower<Subject, ListEvent<Item>>
  const { accountOf, queue } = options
  const tails = new Map<AccountId, Tail>()
  /** Followers whose first events are not pushed yet, with what came for them meanwhile. */
  const beginning = new Map<Client, ListEvent<Item>[]>()
  const followers = createFollowers<Subject, ListEvent<Item>>({ ...options, poll })

  async function follow(
    subject: Subject,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<ListEvent<Item>> | null> {
    // Nothing is polled without clients, so an ended stream's tail would send what came since as new.
    followers.dropUnfollowed(tails)
    const follower = followers.add(subject, gone)
    if (!follower) return null
    beginning.set(follower, [])
    try {
      await options.begin(follower)
    } catch (error) {
      beginning.delete(follower)
      follower.leave()
      throw error
    }
    const later = beginning.get(follower)!
    beginning.delete(follower)
    for (const event of later) follower.push(event)
    return withHeartbeats(follower)
  }

  /** After its first events: a client that has the cursor of a later event does not get the earlier ones again. */
  function pushLater(follower: Client, event: ListEvent<Item>): void {
    const later = beginning.get(follower)
    if (later) beginning.set(follower, queue(later, event))
    else follower.push(event)
  }

  async function tailOf(accountId: AccountId): Promise<Tail> {
    const known = tails.get(accountId)
    if (known) return known
    const opened = await options.openTail(accountId)
    // Another stream may have opened it meanwhile.
    const tail = tails.get(accountId) ?? opened
    tails.set(accountId, tail)
    return tail
  }

  /** The events with heartbeats, which carry the present cursor once the account has a tail. */
  async function* withHeartbeats({ events, subject }: Client): AsyncGenerator<ListEvent<Item>> {
    for await (const event of events) {
      const tail = event ? undefined : tails.get(accountOf(subject))
      if (event) yield event
      else if (tail !== undefined) yield { kind: 'beat', cursor: options.cursorOf(tail) }
    }
  }

  async function poll(): Promise<void> {
    followers.dropUnfollowed(tails)
    if (tails.size === 0) return
    const polled = [...tails.values()]
    const found = await options.read(polled)
    const byAccount = groupFollowers()
    for (const tail of polled) await options.send(tail, found, byAccount.get(tail.accountId) ?? [])
  }

  /** After a read, so that it includes a stream that began during it: only a later one finds by itself what was read. */
  function groupFollowers(): Map<AccountId, ListFollower<Subject, Item>[]> {
    const all = Array.from(followers.all(), follower => ({
      subject: follower.subject,
      push: (event: ListEvent<Item>) => pushLater(follower, event),
    }))
    return Map.groupBy(all, ({ subject }) => accountOf(subject))
  }

  return { follow, tailOf, close: followers.close }
}
