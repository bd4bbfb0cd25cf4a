/** An event for a client that follows a list; `cursor` is where it continues after a reconnect. */
export type ListEvent<Item> =
  /** The item as it is now; several changes at once are one event. */
  | { kind: 'message'; cursor: string; message: Item }
  /** Too much has changed, or it is unknown what has: the client must read the list again. */
  | { kind: 'reset'; cursor: string }
  /** A heartbeat. */
  | { kind: 'beat'; cursor: string }
