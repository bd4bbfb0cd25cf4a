import { Button, Loader, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { isServerReady, POLL_EVERY_MS } from '../api/ready.ts'

/**
 * Shown in place of a page that could not be loaded. Reloads once the server answers, since there is no input
 * to lose yet. Not earlier: the browser would show its own error page.
 */
export function UnloadedPage() {
  const [state, setState] = useState<'asking' | 'away' | 'missing'>('asking')
  useEffect(() => {
    if (state === 'missing') return
    let isDone = false
    async function checkServer(): Promise<void> {
      const ready = await isServerReady()
      if (isDone) return
      if (!ready) return setState('away')
      isDone = true
      if (mayReload()) location.reload()
      else setState('missing')
    }
    void checkServer()
    const timer = setInterval(checkServer, POLL_EVERY_MS)
    return () => {
      isDone = true
      clearInterval(timer)
    }
  }, [state])

  if (state === 'asking') return null
  if (state === 'away')
    return (
      <FailedPage
        title="The server does not answer"
        text="This page loads automatically when the server is back. Pages that you opened before still work."
      >
        <Loader size="sm" aria-hidden />
      </FailedPage>
    )
  return (
    <FailedPage
      title="There is a newer version of the console"
      text="The server was updated since you opened this page."
    >
      <ReloadButton />
    </FailedPage>
  )
}

export function FailedPage({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <Stack p="xl" maw={560} mx="auto" role="alert">
      <Title order={2}>{title}</Title>
      <Text c="dimmed">{text}</Text>
      {children}
    </Stack>
  )
}

export function ReloadButton() {
  return (
    <Button onClick={() => location.reload()} w="fit-content">
      Reload the page
    </Button>
  )
}

const RELOADED_AT = 'posthorn-reloaded-at'
const ONCE_IN_MS = 30_000

/** At most once in a while, so that a missing file does not cause a reload loop. */
function mayReload(): boolean {
  try {
    const lastMs = Number(sessionStorage.getItem(RELOADED_AT) ?? 0)
    if (Date.now() - lastMs < ONCE_IN_MS) return false
    sessionStorage.setItem(RELOADED_AT, String(Date.now()))
    return true
  } catch {
    return false
  }
}
