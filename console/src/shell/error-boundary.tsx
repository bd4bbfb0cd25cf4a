import { Button, Code, Stack, Text, Title } from '@mantine/core'
import { Component, type ReactNode } from 'react'

type Props = { children: ReactNode /** Another value is another try. */; at?: string }
type State = { error: Error | null; at: string | undefined }

/** Keeps a page that fails from taking the others with it. React knows no other way than a class. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, at: this.props.at }

  static getDerivedStateFromError(error: Error): Partial<State> {
    return { error }
  }

  static getDerivedStateFromProps(props: Props, state: State): Partial<State> | null {
    return props.at === state.at ? null : { at: props.at, error: null }
  }

  /** Nothing is typed yet on a page that has not come: loading anew loses nothing. */
  override componentDidCatch(error: Error): void {
    if (isOutdated(error) && mayReload()) location.reload()
  }

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    const outdated = isOutdated(error)
    return (
      <Stack p="xl" maw={560} mx="auto" role="alert">
        <Title order={2}>
          {outdated ? 'There is a newer version of the console' : 'This page has failed'}
        </Title>
        <Text c="dimmed">
          {outdated
            ? 'The server was updated since you opened this page.'
            : 'That is a fault of ours. Nothing was sent or changed by it; the other pages work.'}
        </Text>
        {!outdated && <Code block>{error.message}</Code>}
        <Button onClick={() => location.reload()} w="fit-content">
          Load it again
        </Button>
      </Stack>
    )
  }
}

/** A part of the page has another name now: the server was updated. */
function isOutdated({ message }: Error): boolean {
  return /dynamically imported module|module script/i.test(message)
}

const RELOADED_AT = 'posthorn-reloaded-at'
const ONCE_IN_MS = 30_000

/** Once in a while, so that a part that is really missing ends in words and not in a circle. */
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
