import type { Connection, Submittable } from 'pg'

type CopyQuery = Submittable & {
  callback(error: Error | null): void
  handleError(error: Error): void
  handleCopyInResponse(connection: Connection): void
  handleReadyForQuery(): void
}

/**
 * `COPY … FROM STDIN` with all its data in hand, as a query of the driver: it has
 * no COPY of its own, but hands the protocol's messages to whatever can submit itself.
 * `done` hears once, with the error or null. PostgreSQL's protocol, "COPY Operations".
 */
export function copyIn(text: string, data: Buffer, done: (error: Error | null) => void): Submittable {
  const query: CopyQuery = {
    callback: done,
    submit(connection) {
      ;(connection as Connection & { query(text: string): void }).query(text)
    },
    handleCopyInResponse(connection) {
      const { stream } = connection
      stream.cork()
      stream.write(copyDataHeader(data.length))
      stream.write(data)
      stream.write(COPY_DONE)
      stream.uncork()
    },
    handleError(error) {
      // The first word counts: behind an error the driver still says that it is ready.
      query.callback(error)
      query.callback = () => {}
    },
    handleReadyForQuery() {
      query.callback(null)
    },
  }
  return Object.assign(query, { handleCommandComplete() {} })
}

/** 'd', and the length of what follows, itself included. */
function copyDataHeader(length: number): Buffer {
  const header = Buffer.alloc(5)
  header[0] = 0x64
  header.writeInt32BE(length + 4, 1)
  return header
}

const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4])
