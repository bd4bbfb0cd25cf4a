/** What each command status says, in words (SMPP 3.4, 5.1.3). */
const MEANINGS: ReadonlyMap<number, string> = new Map([
  [0x00, 'The centre took the message.'],
  [0x01, 'The message has the wrong length.'],
  [0x02, 'The centre could not read our request: its length is wrong.'],
  [0x03, 'The centre does not know this request.'],
  [0x04, 'The connection was not bound for sending.'],
  [0x05, 'The connection was bound already.'],
  [0x08, 'The centre had an error of its own.'],
  [0x0a, 'The sender is not allowed, or not well-formed.'],
  [0x0b, 'The destination number is not valid, or not served.'],
  [0x0c, 'The centre does not know this message id.'],
  [0x0d, 'The centre refused the login.'],
  [0x0e, 'The password is wrong.'],
  [0x0f, 'The system id is wrong.'],
  [0x14, 'The queue of the centre is full.'],
  [0x15, 'The service type is not valid for this login.'],
  [0x33, 'The number of destinations is not valid.'],
  [0x34, 'There is no such distribution list.'],
  [0x40, 'The kind of destination is not valid.'],
  [0x42, 'Replacing messages is not allowed.'],
  [0x43, 'The kind of message is not valid for this login.'],
  [0x44, 'The distribution list takes no messages.'],
  [0x45, 'The centre could not submit the message.'],
  [0x48, 'The type of the sender’s number is not valid.'],
  [0x49, 'The numbering plan of the sender is not valid.'],
  [0x50, 'The type of the destination number is not valid.'],
  [0x51, 'The numbering plan of the destination is not valid.'],
  [0x53, 'The system type is not valid for this login.'],
  [0x54, 'Replacing if present is not allowed.'],
  [0x55, 'The number of messages is not valid.'],
  [0x58, 'The centre wants fewer messages a second.'],
  [0x61, 'The delivery time is not valid.'],
  [0x62, 'The validity period is not valid.'],
  [0x63, 'The predefined message does not exist.'],
  [0x64, 'The receiver had a temporary error.'],
  [0x65, 'The receiver refused the message for good.'],
  [0x66, 'The receiver refused the message.'],
  [0xc0, 'The optional parameters could not be read.'],
  [0xc1, 'An optional parameter is not allowed.'],
  [0xc2, 'A parameter has the wrong length.'],
  [0xc3, 'A parameter that the centre expects is missing.'],
  [0xc4, 'An optional parameter has a wrong value.'],
  [0xfe, 'The message could not be delivered.'],
  [0xff, 'The centre had an error that it could not name.'],
])

const STATUS = /^0x([0-9A-F]{8})$/

/** What a command status, as it is stored, means; null for one of the vendor's own. */
export function explainStatus(code: string): string | null {
  const hex = STATUS.exec(code)?.[1]
  return hex === undefined ? null : (MEANINGS.get(Number.parseInt(hex, 16)) ?? null)
}
