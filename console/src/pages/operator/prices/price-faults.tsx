import { List, Text } from '@mantine/core'
import type { PriceFault } from './price-file.ts'

const MAX_SHOWN = 20

export function PriceFaults({ faults }: { faults: readonly PriceFault[] }) {
  return (
    <>
      <List size="sm" spacing={2}>
        {faults.slice(0, MAX_SHOWN).map(({ line, text }) => (
          <List.Item key={`${line} ${text}`}>
            {line !== null && <b>Line {line}: </b>}
            <bdi>{text}</bdi>
          </List.Item>
        ))}
      </List>
      {faults.length > MAX_SHOWN && (
        <Text size="sm" mt={4}>
          And {(faults.length - MAX_SHOWN).toLocaleString()} more.
        </Text>
      )}
    </>
  )
}
