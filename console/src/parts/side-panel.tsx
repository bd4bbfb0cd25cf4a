import { Drawer, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './side-panel.module.css'

/** A panel with a row's details beside the list. Escape and the back button close it. */
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
  /** Shown beside the title, such as a status. */
  aside?: ReactNode
  children: ReactNode
  /** The actions, always visible. */
  foot?: ReactNode
}) {
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size={560}
      padding={0}
      closeButtonProps={{ 'aria-label': 'Close' }}
      classNames={{
        header: classes.header!,
        title: classes.title!,
        content: classes.content!,
        body: classes.body!,
      }}
      title={
        <>
          <span className={`${classes.name} ph-truncate`}>{title}</span>
          {aside}
        </>
      }
    >
      <div className={classes.scroll}>{children}</div>
      {foot && <div className={classes.foot}>{foot}</div>}
    </Drawer>
  )
}

/** A list of names and values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode] | null)[] }) {
  return (
    <dl
      style={{
        display: 'grid',
        gridTemplateColumns: 'minmax(110px, max-content) 1fr',
        gap: '8px 20px',
        alignItems: 'baseline',
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
