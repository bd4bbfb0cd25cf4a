import { Drawer, Group, ScrollArea, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** What a row is about, beside its list. Escape and "back" close it. */
export function SidePanel({
  opened,
  onClose,
  title,
  aside,
  children,
  foot,
}: {
  opened: boolean
  onClose: () => void
  title: ReactNode
  /** Beside the title, such as a status. */
  aside?: ReactNode
  children: ReactNode
  /** What can be done with it; stays in sight. */
  foot?: ReactNode
}) {
  return (
    <Drawer.Root
      opened={opened}
      onClose={onClose}
      position="right"
      size={560}
      scrollAreaComponent={ScrollArea.Autosize}
    >
      <Drawer.Overlay backgroundOpacity={0.2} />
      <Drawer.Content aria-label="Details" style={{ display: 'flex', flexDirection: 'column' }}>
        <Drawer.Header style={{ borderBottom: '1px solid var(--ph-line)' }}>
          <Drawer.Title component="div" style={{ flex: 1, minWidth: 0 }}>
            <Group gap="sm" wrap="nowrap">
              <Title order={2} style={{ minWidth: 0 }} className="ph-truncate">
                {title}
              </Title>
              {aside}
            </Group>
          </Drawer.Title>
          <Drawer.CloseButton aria-label="Close" />
        </Drawer.Header>
        <Drawer.Body style={{ flex: 1, paddingTop: 16 }}>{children}</Drawer.Body>
        {foot && (
          <Group
            p="md"
            gap="sm"
            style={{
              borderTop: '1px solid var(--ph-line)',
              position: 'sticky',
              bottom: 0,
              background: 'var(--mantine-color-body)',
            }}
          >
            {foot}
          </Group>
        )}
      </Drawer.Content>
    </Drawer.Root>
  )
}

/** Names and values, one below the other. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode] | null)[] }) {
  return (
    <dl
      style={{
        display: 'grid',
        gridTemplateColumns: 'minmax(110px, max-content) 1fr',
        gap: '8px 20px',
        margin: 0,
      }}
    >
      {facts.map(
        fact =>
          fact && (
            <div key={fact[0]} style={{ display: 'contents' }}>
              <Text component="dt" c="dimmed" size="sm">
                {fact[0]}
              </Text>
              <Text component="dd" size="sm" m={0} style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
                {fact[1]}
              </Text>
            </div>
          ),
      )}
    </dl>
  )
}
