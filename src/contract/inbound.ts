/** What a provider calls us with, as it came: signatures are of the raw bytes. */
export type InboundRequest = {
  method: 'GET' | 'POST'
  /** The whole address as the provider called it; null where we do not know how we are reached. */
  url: string | null
  /** What stands behind the question mark, as it was sent. */
  query: string
  /** By lower-case name; of a repeated header the first. */
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** What the provider is to be answered, where it asks for words of its own. */
export type InboundReply = { status: number; contentType: string; body: string }

/** The door through which providers' calls come in. */
export type InboundDoor = {
  /**
   * Whether there is anybody here whom such a call could be for. Throws SERVICE_UNAVAILABLE where they
   * are still being opened.
   */
  awaits(provider: string, connectionId: string): Promise<boolean>
  /**
   * Hands a call to the connection's link, and resolves once all that it says is
   * stored. `unknown`: no such connection here, or one that takes no calls.
   * Throws DatabaseUnavailable where it cannot be stored.
   */
  receive(
    provider: string,
    connectionId: string,
    request: InboundRequest,
  ): Promise<
    | { kind: 'stored'; reply?: InboundReply }
    | { kind: 'unknown' }
    | { kind: 'unauthorized' }
    | { kind: 'forbidden' }
    | { kind: 'malformed'; detail: string }
  >
}
