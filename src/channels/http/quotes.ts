const XML_SIGNS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/**
 * Whether a provider's words hold a text, as it is or as it was written into the request: percent-encoded or form-encoded,
 * escaped for XML, or as a JSON string. Providers quote the URL or the body of a request that they refuse.
 */
export function quotes(words: string, text: string): boolean {
  return spellingsOf(words).some(each => each.includes(text))
}

function spellingsOf(words: string): string[] {
  return [
    words,
    percentDecoded(words),
    percentDecoded(words.replaceAll('+', ' ')),
    words.replace(/&(?:(\w+)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi, xmlSign),
    words.replace(/\\(?:u([0-9a-f]{4})|(["\\/bfnrt]))/gi, jsonSign),
  ]
}

function percentDecoded(words: string): string {
  return words.replace(/(?:%[0-9a-f]{2})+/gi, run =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

const JSON_SIGNS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

function jsonSign(_: string, unit?: string, short = ''): string {
  return unit === undefined ? (JSON_SIGNS[short] ?? short) : String.fromCharCode(Number.parseInt(unit, 16))
}

function xmlSign(reference: string, name?: string, decimal?: string, hexadecimal?: string): string {
  if (name !== undefined) return Object.hasOwn(XML_SIGNS, name) ? XML_SIGNS[name]! : reference
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : reference
}
