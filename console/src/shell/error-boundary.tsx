import { Code } from '@mantine/core'
import { Component, type ReactNode } from 'react'
import { FailedPage, LoadAgain, PageToCome } from './page-to-come.tsx'

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
    if (isNotCome(error)) return <PageToCome />
    return (
      <FailedPage
        title="This page has failed"
        text="This is an error of the console. It sent and changed nothing; the other pages work."
      >
        <Code block>{error.message}</Code>
        <LoadAgain />
      </FailedPage>
    )
  }
}

/**
 * A script or style of the page could not be loaded: the server is unreachable, or was updated and has other
 * file names.
 */
function isNotCome({ message }: Error): boolean {
  return /dynamically imported module|module script|preload css/i.test(message)
}
