import { SegmentedControl, Tooltip } from '@mantine/core'
import { useSession } from '../session/context.tsx'
import type { Mode } from '../session/session.ts'

/** Switches between live and test mode; test messages go only to the sandbox. */
export function ModeSwitch() {
  const { mode, choose } = useSession()
  return (
    <Tooltip
      label={
        mode === 'test'
          ? 'Messages go only to the sandbox, and are free'
          : 'Real messages, charged to the wallet'
      }
    >
      <SegmentedControl
        size="xs"
        aria-label="Mode"
        value={mode}
        onChange={value => choose({ mode: value as Mode })}
        data={[
          { value: 'test', label: 'Test' },
          { value: 'live', label: 'Live' },
        ]}
        color={mode === 'test' ? 'brass.6' : 'verdigris.7'}
      />
    </Tooltip>
  )
}
