import { Code } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { FailedPage, ReloadButton, UnloadedPage } from './unloaded-page.tsx'

type Props = { children: ReactNode /** The page's path; a new value clears the error. */; at?: string }
type State = { error: Error | null; at: string | undefined }

/** Contains an error of one page. React supports this only with a class. */
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
    if (isLoadError(error)) return <UnloadedPage />
    return (
      <FailedPage
        title="This page has failed"
        text="This is an error of the console. It sent and changed nothing; the other pages work."
      >
        <Code block>{error.message}</Code>
        <ReloadButton />
      </FailedPage>
    )
  }
}

/**
 * A script or style of the page could not be loaded: the server is unreachable, or was updated and has other
 * file names.
 */
function isLoadError({ message }: Error): boolean {
  return /dynamically imported module|module script|preload css/i.test(message)
}
