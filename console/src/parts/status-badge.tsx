import classes from './status-badge.module.css'

/** The meaning of a status, shown as a colour. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'odd' | 'still'

/** The tones of the API's statuses; unknown ones are neutral. */
const TONES: Readonly<Record<string, Tone>> = {
  sent: 'good',
  delivered: 'good',
  read: 'good',
  verified: 'good',
  approved: 'good',
  active: 'good',
  completed: 'good',
  open: 'good',
  up: 'good',
  connected: 'good',
  accepted: 'good',
  captured: 'good',
  scheduled: 'busy',
  queued: 'busy',
  sending: 'busy',
  running: 'busy',
  validating: 'busy',
  accepting: 'busy',
  connecting: 'busy',
  held: 'busy',
  pending: 'warn',
  paused: 'warn',
  throttled: 'warn',
  retry: 'warn',
  qr: 'warn',
  pairing_code: 'warn',
  half_open: 'warn',
  flagged: 'warn',
  failed: 'bad',
  undelivered: 'bad',
  rejected: 'bad',
  exhausted: 'bad',
  banned: 'bad',
  suspended: 'bad',
  down: 'bad',
  logged_out: 'bad',
  invalid: 'bad',
  revoked: 'bad',
  unknown: 'odd',
}

const LABELS: Readonly<Record<string, string>> = { qr: 'Scan the code', pairing_code: 'Type the code' }

/** A status as a dot and text, so that it does not depend on colour alone. */
export function StatusBadge({
  status,
  tone = TONES[status] ?? 'still',
  label,
}: {
  status: string
  tone?: Tone
  label?: string
}) {
  return (
    <span className={classes.badge} data-tone={tone}>
      <span className={classes.dot} aria-hidden />
      {label ?? LABELS[status] ?? humanize(status)}
    </span>
  )
}

/** `half_open` is "Half open". */
export function humanize(word: string): string {
  const text = word.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
