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

  override render(): ReactNode {
    const { error } = this.state
    if (!error) return this.props.children
    const outdated = /dynamically imported module|module script/i.test(error.message)
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
