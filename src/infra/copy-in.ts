import type { Connection, Submittable } from 'pg'

type CopyQuery = Submittable & {
  callback(error: Error | null): void
  handleError(error: Error): void
  handleCopyInResponse(): void
  handleReadyForQuery(): void
}

/**
 * `COPY … FROM STDIN` with all its data in memory, as a query of the driver. The driver does not support
 * COPY, but passes the protocol's messages to any object with a `submit` method. `done` is called once, with
 * the error or null. See "COPY Operations" in PostgreSQL's protocol.
 *
 * The data is sent with the command: to wait for the server's CopyInResponse would take a turn of a busy event
 * loop. If the command fails, the server drops the data that follows it.
 */
export function copyIn(text: string, data: Buffer, done: (error: Error | null) => void): Submittable {
  const query: CopyQuery = {
    callback: done,
    submit(connection) {
      const { stream } = connection
      stream.cork()
      ;(connection as Connection & { query(text: string): void }).query(text)
      stream.write(copyDataHeader(data.length))
      stream.write(data)
      stream.write(COPY_DONE)
      stream.uncork()
    },
    handleCopyInResponse() {},
    handleError(error) {
      // The first call counts: after an error, the driver still calls handleReadyForQuery.
      query.callback(error)
      query.callback = () => {}
    },
    handleReadyForQuery() {
      query.callback(null)
    },
  }
  return Object.assign(query, { handleCommandComplete() {} })
}

/** 'd' and the length of the message, including the length itself. */
function copyDataHeader(length: number): Buffer {
  const header = Buffer.alloc(5)
  header[0] = 0x64
  header.writeInt32BE(length + 4, 1)
  return header
}

const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4])
