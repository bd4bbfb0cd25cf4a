/** What one tab of the browser tells the others. */
export type Word =
  /** Answers to these paths are old. */
  | { kind: 'changed'; paths: readonly string[] }
  /** Somebody has signed out. */
  | { kind: 'left' }
  /** Somebody is in, by this session: the cookie is its for all. */
  | { kind: 'entered'; sessionId: string }

export type Tabs = {
  tell(word: Word): void
  /** Words of the others; returns what ends it. */
  listen(hear: (word: Word) => void): () => void
}

const NAME = 'posthorn'

export function createTabs(): Tabs {
  // Where there is none each tab is on its own, and finds out when it asks.
  const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(NAME)
  return {
    tell: word => channel?.postMessage(word),
    listen(hear) {
      const onMessage = ({ data }: MessageEvent<Word>) => hear(data)
      channel?.addEventListener('message', onMessage)
      return () => channel?.removeEventListener('message', onMessage)
    },
  }
}
