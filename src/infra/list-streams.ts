import type { Clock } from '../lib/clock.ts'
import type { AccountId } from '../lib/ids.ts'
import { createFollowers, type Follower, type FollowersOptions } from './followers.ts'
import type { ListEvent } from './list-events.ts'

export type ListFollower<Subject, Item> = Follower<Subject, ListEvent<Item>>

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

export type ListStreamsOptions<Subject, Item, Tail> = Pick<
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
  /** Reads what the tails do not have yet, pushes it to the followers of each, and advances the tails. */
  poll(
    tails: readonly Tail[],
    followersOf: (accountId: AccountId) => readonly ListFollower<Subject, Item>[],
  ): Promise<void>
}

export function createListStreams<Subject, Item, Tail>(
  options: ListStreamsOptions<Subject, Item, Tail>,
): ListStreams<Subject, Item, Tail> {
  const { accountOf } = options
  const tails = new Map<AccountId, Tail>()
  const followers = createFollowers<Subject, ListEvent<Item>>({ ...options, poll })

  async function follow(
    subject: Subject,
    gone: AbortSignal,
  ): Promise<AsyncGenerator<ListEvent<Item>> | null> {
    // Nothing is polled without clients, so an ended stream's tail would send what came since as new.
    followers.dropUnfollowed(tails)
    const follower = followers.add(subject, gone)
    if (!follower) return null
    try {
      await options.begin(follower)
    } catch (error) {
      follower.leave()
      throw error
    }
    return withHeartbeats(follower)
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
  async function* withHeartbeats({
    events,
    subject,
  }: ListFollower<Subject, Item>): AsyncGenerator<ListEvent<Item>> {
    for await (const event of events) {
      const tail = event ? undefined : tails.get(accountOf(subject))
      if (event) yield event
      else if (tail !== undefined) yield { kind: 'beat', cursor: options.cursorOf(tail) }
    }
  }

  async function poll(): Promise<void> {
    const byAccount = Map.groupBy(followers.all(), ({ subject }) => accountOf(subject))
    followers.dropUnfollowed(tails)
    if (tails.size === 0) return
    await options.poll([...tails.values()], accountId => byAccount.get(accountId) ?? [])
  }

  return { follow, tailOf, close: followers.close }
}
