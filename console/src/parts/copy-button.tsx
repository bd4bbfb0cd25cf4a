import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import { type MouseEvent, useEffect, useState } from 'react'
import { copyText } from './copy-text.ts'

const SHOWN_MS = 1_500

/** Copies `text`, and confirms it. Without a label it is an icon. */
export function CopyButton({
  text,
  label,
  what = 'this',
  small = false,
  autoFocus = false,
}: {
  text: string
  label?: string
  /** What is copied, for the accessible name: "the key". */
  what?: string
  small?: boolean
  /** Where there is a label. */
  autoFocus?: boolean
}) {
  const [outcome, copy] = useCopy(text)
  const size = small ? 13 : 15
  const icon = outcome === 'copied' ? <Check size={size} /> : <Copy size={size} />
  const words = outcome === null ? null : OUTCOME_LABELS[outcome]
  if (label !== undefined) {
    return (
      <Button
        size={small ? 'xs' : 'sm'}
        variant="default"
        leftSection={icon}
        autoFocus={autoFocus}
        onClick={copy}
      >
        {words ?? label}
      </Button>
    )
  }
  return (
    <Tooltip label={words ?? 'Copy'}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={small ? 'sm' : 'md'}
        aria-label={words ?? `Copy ${what}`}
        onClick={copy}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}

type Outcome = 'copied' | 'refused'
const OUTCOME_LABELS: Readonly<Record<Outcome, string>> = {
  copied: 'Copied',
  refused: 'The browser does not allow copying',
}

/** The result of copying `text`, for a moment. */
function useCopy(text: string): [outcome: Outcome | null, copy: (event: MouseEvent) => void] {
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  useEffect(() => {
    if (outcome === null) return
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [outcome])

  async function copy(event: MouseEvent): Promise<void> {
    // The click must not open the row.
    event.stopPropagation()
    setOutcome((await copyText(text)) ? 'copied' : 'refused')
  }
  return [outcome, copy]
}
