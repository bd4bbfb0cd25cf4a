/** A provider's webhook call, unchanged: signatures are of the raw bytes. */
export type InboundRequest = {
  method: 'GET' | 'POST'
  /** The full URL that the provider called; null if our public URL is not known. */
  url: string | null
  /** The raw query string, without the question mark. */
  query: string
  /** By lower-case name; for a repeated header the first value. */
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** The response for providers that need a certain one. */
export type InboundReply = { status: number; contentType: string; body: string }

/** Where providers' webhook calls come in. */
export type InboundReceiver = {
  /** Whether a link takes such calls. Throws SERVICE_UNAVAILABLE while links are still being opened. */
  accepts(provider: string, connectionId: string): Promise<boolean>
  /**
   * Passes a call to the connection's link; resolves once everything in it is stored. `unknown`: there is no
   * such connection here, or it takes no calls. Throws DatabaseUnavailable if it cannot be stored.
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
