/** nodemailer writes such a header as it is, but for breaks between its words. */
type Prepared = { prepared: true; foldLines: true; value: string }

/** A line has 998 octets at most (RFC 5322, 2.1.1), and breaks at spaces alone. */
const ENDLESS_WORD = /[^ ]{900}/
/** Of one encoded word, which has 75 characters at most (RFC 2047, 2). */
const MOST_BYTES = 45

/**
 * A subject that reads as it was written. What is not ASCII nodemailer encodes; what reads as encoded
 * already it leaves alone, and words without an end.
 */
export function subjectHeader(subject: string): string | Prepared {
  if (!subject.includes('=?') && !ENDLESS_WORD.test(subject)) return subject
  return { prepared: true, foldLines: true, value: pieces(subject).map(encodedWord).join(' ') }
}

/** No letter is in two of them. */
function pieces(text: string): string[] {
  const cut: string[] = []
  let piece = ''
  for (const letter of text) {
    if (Buffer.byteLength(piece + letter) > MOST_BYTES) {
      cut.push(piece)
      piece = ''
    }
    piece += letter
  }
  return [...cut, piece]
}

function encodedWord(piece: string): string {
  return `=?UTF-8?B?${Buffer.from(piece).toString('base64')}?=`
}
