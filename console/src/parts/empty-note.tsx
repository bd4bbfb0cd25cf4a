import { Center, Stack, Text, Title } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

/** A note for an empty place: why it is empty, and what to do next. */
export function EmptyNote({
  icon: Icon,
  title,
  text,
  action,
}: {
  icon?: LucideIcon
  title: string
  text?: ReactNode
  action?: ReactNode
}) {
  return (
    <Center p="xl" mih={220}>
      <Stack align="center" gap={6} maw={420} ta="center">
        {Icon && <Icon size={26} strokeWidth={1.6} color="var(--ph-quiet)" aria-hidden />}
        <Title order={2} size="h3" mt={4}>
          {title}
        </Title>
        {text !== undefined && (
          <Text c="dimmed" component="div" style={{ textWrap: 'balance' }}>
            {text}
          </Text>
        )}
        {action && <div style={{ marginTop: 10 }}>{action}</div>}
      </Stack>
    </Center>
  )
}
