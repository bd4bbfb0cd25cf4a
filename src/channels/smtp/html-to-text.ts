/** Elements that begin a new line. */
const BLOCKS = new Set(
  'address article aside blockquote br dd div dl dt figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody tfoot thead tr ul'.split(
    ' ',
  ),
)

/** Elements whose content is not shown. `head` is not listed: all that it may hold is, and its end tag may be left out. */
const HIDDEN = new Set(['noscript', 'script', 'style', 'template', 'title'])

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  copy: '©',
  euro: '€',
  gt: '>',
  hellip: '…',
  ldquo: '“',
  lsquo: '‘',
  lt: '<',
  mdash: '—',
  nbsp: ' ',
  ndash: '–',
  quot: '"',
  rdquo: '”',
  reg: '®',
  rsquo: '’',
}

/**
 * The plain-text alternative of an HTML mail: its text, a line for each block, and a link's address
 * behind its text. A single pass, so that no input makes it slow. It does not sanitise.
 */
export function htmlToText(html: string): string {
  const out: string[] = []
  let link: Anchor | null = null
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    out.push(textOf(html.slice(at, open === -1 ? html.length : open)))
    if (open === -1) break
    const tag = readTag(html, open)
    at = HIDDEN.has(tag.name) && !tag.closing ? endOfHidden(html, tag) : tag.end
    if (tag.name === 'a') {
      if (link !== null) out.push(linkSuffix(link, out))
      link = tag.closing ? null : anchorOf(tag, out.length)
    } else {
      out.push(separatorFor(tag))
    }
  }
  return tidy(out.join(''))
}

/** An open link: its address, and where its text begins. */
type Anchor = { href: string; from: number }

type Tag = { name: string; closing: boolean; attributes: string; end: number; stray: boolean }

/** The name is empty for a comment, a doctype, and a `<` that begins no tag. */
function readTag(html: string, open: number): Tag {
  if (html.startsWith('<!--', open)) {
    return { name: '', closing: false, attributes: '', end: commentEnd(html, open), stray: false }
  }
  const next = html[open + 1] ?? ''
  if (!/[a-zA-Z/!?]/.test(next)) {
    return { name: '', closing: false, attributes: '', end: open + 1, stray: true }
  }
  const end = tagEnd(html, open)
  const inside = html.slice(open + 1, end - 1)
  const name = /^\/?([a-zA-Z][^\s/>]*)/.exec(inside)
  return {
    name: name?.[1]?.toLowerCase() ?? '',
    closing: next === '/',
    attributes: inside.slice(name?.[0].length ?? 0),
    end,
    stray: false,
  }
}

/** The index behind a comment; `<!-->` and `<!--->` are complete comments. */
function commentEnd(html: string, open: number): number {
  const [abrupt] = /^-?>/.exec(html.slice(open + 4, open + 6)) ?? []
  if (abrupt !== undefined) return open + 4 + abrupt.length
  const close = html.indexOf('-->', open + 4)
  return close === -1 ? html.length : close + 3
}

/** The index behind the `>` that ends a tag. Quotes count only directly behind `=`; a `>` inside them ends nothing. */
function tagEnd(html: string, open: number): number {
  let quote = ''
  let last = ''
  for (let at = open + 1; at < html.length; at++) {
    const letter = html[at]!
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (last === '=' && (letter === '"' || letter === "'")) quote = letter
    else if (letter === '>') return at + 1
    if (letter.trim() !== '') last = letter
  }
  return html.length + 1
}

/** The index behind a hidden element. Its content is not parsed: only its own end tag ends it. */
function endOfHidden(html: string, tag: Tag): number {
  const close = new RegExp(`</${tag.name}(?=[\\s/>])`, 'gi')
  close.lastIndex = tag.end
  return close.test(html) ? close.lastIndex - tag.name.length - 2 : html.length
}

function separatorFor(tag: Tag): string {
  if (tag.stray) return '<'
  if (tag.name === 'td' || tag.name === 'th') return ' '
  if (!BLOCKS.has(tag.name)) return ''
  if (tag.name === 'li' && !tag.closing) return '\n- '
  return tag.name === 'p' ? '\n\n' : '\n'
}

function anchorOf(tag: Tag, from: number): Anchor | null {
  const match = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(tag.attributes)
  const href = decode(match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim()
  return /^(?:https?:|mailto:|tel:)/i.test(href) ? { href, from } : null
}

/** Empty where the link's text is the address already. */
function linkSuffix(link: Anchor, out: readonly string[]): string {
  const words = out.slice(link.from).join('').trim()
  return words === link.href || words === link.href.replace(/^(?:mailto|tel):/i, '') ? '' : ` (${link.href})`
}

function textOf(text: string): string {
  return decode(text.replace(/\s+/g, ' '))
}

function decode(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const letter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
    return letter ? String.fromCodePoint(point) : whole
  })
}

function tidy(text: string): string {
  const lines = text.split('\n').map(line => line.replace(/[ \t]+/g, ' ').trim())
  const kept = lines.filter((line, at) => line !== '' || (at > 0 && lines[at - 1] !== ''))
  return kept.join('\n').trim()
}
