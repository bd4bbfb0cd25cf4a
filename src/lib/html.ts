/**
 * Whether a text is HTML rather than plain text: it begins like an HTML document, or has a closing tag, a
 * line break, a rule or an image.
 */
export function looksLikeHtml(text: string): boolean {
  return (
    /^\s*<(!doctype html|html)[\s>]/i.test(text) || /<\/[a-z][a-z0-9]*\s*>|<(br|hr|img)\b[^<>]*>/i.test(text)
  )
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const UNSAFE = /[&<>"']/
const UNSAFE_ALL = /[&<>"']/g

/** Escapes text for use between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
  // Most values have nothing to escape, and a test is cheaper than a copy.
  return UNSAFE.test(text) ? text.replace(UNSAFE_ALL, each => ESCAPES[each]!) : text
}
