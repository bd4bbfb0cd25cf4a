/** A text as the store can hold it: no text there has a NUL, nor half of a surrogate pair. At most `longest` UTF-16 units. */
export function storable(text: string, longest = text.length): string {
  return text.replaceAll('\0', '').slice(0, longest).toWellFormed()
}
