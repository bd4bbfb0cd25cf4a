import { Badge, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** The name of a row, as entered. The badge is shown if there is room. */
export function NameCell({ name, badge }: { name: string; badge?: ReactNode }) {
  const text = (
    <Text span fw={500} size="sm" truncate>
      <bdi>{name}</bdi>
    </Text>
  )
  if (!badge) return text
  return (
    <Group gap="xs" wrap="nowrap">
      {text}
      <span className="ph-wide-only" style={{ flex: 'none' }}>
        {badge}
      </span>
    </Group>
  )
}

export function SandboxBadge() {
  return (
    <Badge size="sm" color="brass" variant="light">
      Sandbox
    </Badge>
  )
}
