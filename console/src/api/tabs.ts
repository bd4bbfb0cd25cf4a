/** A message from one tab of the browser to the others. */
export type TabMessage =
  /** What was read from these paths is outdated. */
  | { kind: 'changed'; paths: readonly string[] }
  /** The person has signed out. */
  | { kind: 'left' }
  /** A person has signed in with this session; all tabs share its cookie. */
  | { kind: 'entered'; sessionId: string }

export type Tabs = {
  post(word: TabMessage): void
  /** Listens to the other tabs; returns a function that stops it. */
  listen(hear: (word: TabMessage) => void): () => void
}

const NAME = 'posthorn'

export function createTabs(): Tabs {
  // Without BroadcastChannel, a tab learns of changes when it reads again.
  const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(NAME)
  return {
    post: word => channel?.postMessage(word),
    listen(hear) {
      const onMessage = ({ data }: MessageEvent<TabMessage>) => hear(data)
      channel?.addEventListener('message', onMessage)
      return () => channel?.removeEventListener('message', onMessage)
    },
  }
}
