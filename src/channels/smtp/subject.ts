/** nodemailer writes a prepared header as it is, only folded between words. */
type Prepared = { prepared: true; foldLines: true; value: string }

/** A line has at most 998 octets (RFC 5322, 2.1.1), and can be folded only at spaces. */
const UNFOLDABLE_WORD = /[^ ]{900}/
/** Bytes in one encoded word, which has at most 75 characters (RFC 2047, 2). */
const MAX_BYTES = 45

/**
 * A subject header that is shown as it was written. nodemailer encodes non-ASCII subjects itself, but leaves alone what
 * looks like an encoded word, and words that are too long to fold: those are encoded here.
 */
export function subjectHeader(subject: string): string | Prepared {
  if (!subject.includes('=?') && !UNFOLDABLE_WORD.test(subject)) return subject
  return { prepared: true, foldLines: true, value: splitText(subject).map(encodedWord).join(' ') }
}

/** Cuts between characters, never inside one. */
function splitText(text: string): string[] {
  const cut: string[] = []
  let piece = ''
  for (const letter of text) {
    if (Buffer.byteLength(piece + letter) > MAX_BYTES) {
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
