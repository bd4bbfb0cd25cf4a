import { Text } from '@mantine/core'
import type { TimelineEntry } from '../../../../sdk/index.ts'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import classes from './timeline.module.css'

/** All statuses with their times, and all attempts with the provider's answers. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  return (
    <ol className={classes.list} aria-label="Timeline">
      {entries.map((entry, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries never change their order
        <li key={at} className={classes.entry}>
          <div className={classes.what}>
            {entry.event === 'status' ? <StatusBadge status={entry.status!} /> : <Attempt entry={entry} />}
          </div>
          <span className={classes.when}>
            <Time at={entry.at} exact />
          </span>
        </li>
      ))}
    </ol>
  )
}

function Attempt({ entry }: { entry: TimelineEntry }) {
  const { attempt, provider, outcome, providerCode, explanation, detail } = entry
  return (
    <>
      <span>
        Attempt {attempt} via <b>{provider}</b>:{' '}
        {outcome === undefined ? 'no answer' : humanize(outcome).toLowerCase()}
      </span>
      {(providerCode || explanation || detail) && (
        <Text size="sm" c="dimmed" className="ph-words">
          {providerCode ? <span className="ph-mono">{providerCode}</span> : null}
          {providerCode && (explanation || detail) ? ' · ' : ''}
          {explanation ?? detail}
        </Text>
      )}
      {explanation && detail && detail !== explanation && (
        <Text size="xs" c="dimmed" className="ph-words">
          {detail}
        </Text>
      )}
    </>
  )
}
