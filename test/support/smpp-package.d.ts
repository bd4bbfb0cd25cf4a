/** Types for what the tests use of the `smpp` package, which has none. */
declare module 'smpp' {
  import type { Server as NetServer, Socket } from 'node:net'

  export type Fields = Record<string, unknown>

  export class PDU {
    constructor(command: string, fields?: Fields)
    static fromBuffer(bytes: Buffer): PDU & Fields
    command: string
    command_id: number
    command_status: number
    sequence_number: number
    toBuffer(): Buffer
    response(fields?: Fields): PDU
    [field: string]: unknown
  }

  export class Session {
    socket: Socket
    on(event: 'pdu', listener: (pdu: PDU) => void): this
    on(event: 'error', listener: (error: Error) => void): this
    on(event: 'close', listener: () => void): this
    send(pdu: PDU, onResponse?: (response: PDU) => void): boolean
  }

  const smpp: {
    PDU: typeof PDU
    /** The name of the encoding that data_coding 0 means; its `ASCII` is GSM 03.38. */
    encodings: { default: string }
    createServer(options: { key?: string; cert?: string }, listener: (session: Session) => void): NetServer
  }
  export default smpp
}
