import { Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import classes from './page.module.css'

/** The frame of every page: title, purpose, actions. */
export function Page({
  title,
  lead,
  actions,
  children,
  narrow = false,
}: {
  title: string
  lead?: ReactNode
  actions?: ReactNode
  children?: ReactNode
  /** For forms and texts, which are hard to read in full width. */
  narrow?: boolean
}) {
  useDocumentTitle(`${title} · Posthorn`)
  return (
    <div className={classes.page} data-narrow={narrow || undefined}>
      <Group justify="space-between" align="flex-end" gap="md" mb="lg">
        <div>
          <Title order={1} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {lead !== undefined && (
            <Text c="dimmed" mt={2} maw={780} style={{ overflowWrap: 'anywhere' }}>
              {lead}
            </Text>
          )}
        </div>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </div>
  )
}

/** A part of a page, with its own title. */
export function Card({
  title,
  aside,
  children,
  flush = false,
}: {
  title?: ReactNode
  aside?: ReactNode
  children: ReactNode
  /** Without padding, for content such as rows. */
  flush?: boolean
}) {
  return (
    <section className="ph-card">
      {title !== undefined && (
        <Group justify="space-between" className={classes.cardHead}>
          <Title order={2} size="h3">
            {title}
          </Title>
          {aside}
        </Group>
      )}
      <div className={flush ? undefined : classes.cardBody}>{children}</div>
    </section>
  )
}

export function PageSkeleton() {
  return (
    <div className={classes.page} aria-busy="true">
      <Skeleton h={26} w={180} mb="xl" />
      <Stack>
        <Skeleton h={120} />
        <Skeleton h={280} />
      </Stack>
    </div>
  )
}
