import { Box, Center, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Wordmark } from '../parts/wordmark.tsx'
import classes from './entry-page.module.css'

/** The frame of the pages before the sign-in. */
export function EntryPage({
  title,
  lead,
  children,
}: {
  title: string
  lead?: ReactNode
  children: ReactNode
}) {
  return (
    <Center component="main" className={classes.door}>
      <Box className={classes.panel}>
        <Wordmark size={26} />
        <Stack gap={4} mt="xl" mb="lg">
          <Title order={1}>{title}</Title>
          {lead !== undefined && (
            <Text c="dimmed" size="md">
              {lead}
            </Text>
          )}
        </Stack>
        {children}
      </Box>
    </Center>
  )
}
