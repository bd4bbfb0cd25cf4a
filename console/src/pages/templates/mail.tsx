import { Text } from '@mantine/core'

/** An e-mail as the recipient sees it. HTML is shown in a frame that may neither run scripts nor load anything. */
export function Mail({
  from,
  subject,
  words,
  html,
}: {
  from: string
  subject: string
  words: string
  html: boolean
}) {
  return (
    <figure className="ph-card" style={{ margin: 0, overflow: 'hidden' }} aria-label="How the e-mail looks">
      <div style={{ padding: '12px 16px', borderBottom: '1px solid var(--ph-line)' }}>
        <Text size="xs" c="dimmed" className="ph-truncate">
          {from}
        </Text>
        <Text fw={600} className="ph-words">
          {subject === '' ? 'No subject yet' : subject}
        </Text>
      </div>
      {html ? (
        <iframe
          title="The e-mail"
          sandbox=""
          srcDoc={words}
          style={{ display: 'block', width: '100%', height: 460, border: 0, background: 'white' }}
        />
      ) : (
        <div className="ph-words" dir="auto" style={{ padding: 16, minHeight: 240 }}>
          {words}
        </div>
      )}
    </figure>
  )
}

/** The server's rule for HTML: a document, a closing tag, or a line break (docs/sending.md). */
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

/** Escapes a value as the server does. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, each => ESCAPES[each]!)
}
