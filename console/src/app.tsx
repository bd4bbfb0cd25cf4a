import { DirectionProvider, MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { useState } from 'react'
import { createPosthorn } from '../../sdk/index.ts'
import { createConsoleFetch, type Identity, scopeHeaders } from './api/console-fetch.ts'
import { type ApiContext, ApiProvider, createQueryClient } from './api/context.tsx'
import { createReachability } from './api/reachability.ts'
import { createTabs } from './api/tabs.ts'
import { type SessionCookie, SessionGate } from './session/gate.tsx'
import { createSignInPrompt } from './session/sign-in-prompt.ts'
import { ErrorBoundary } from './shell/error-boundary.tsx'
import { theme } from './theme/theme.ts'

/** Creates the singletons. */
function createParts() {
  const reachability = createReachability()
  const again = createSignInPrompt()
  const who: { identity: Identity } = { identity: { csrfToken: null, accountId: null, mode: 'test' } }
  const identity = () => who.identity
  const cookie: SessionCookie = { follow: async () => false }
  const send = createConsoleFetch({
    identity,
    reachability,
    signInAgain: again.open,
    followSession: () => cookie.follow(),
  })
  // In the capture phase, before all other listeners: Escape would close a dialog behind the sign-in, and
  // lose its input.
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && again.isOpen()) event.stopImmediatePropagation()
  }
  window.addEventListener('keydown', onKey, { capture: true })
  const context: ApiContext = {
    api: createPosthorn({
      baseUrl: location.origin,
      fetch: send,
      retries: 1,
      headers: ({ url }) => scopeHeaders(identity(), url),
    }),
    reachability,
    fetch: send,
    identity,
    tabs: createTabs(),
  }
  const identify = (identity: Identity) => {
    who.identity = identity
  }
  return { context, client: createQueryClient(), again, cookie, identify }
}

export function App() {
  const [{ context, client, again, cookie, identify }] = useState(createParts)
  return (
    <DirectionProvider detectDirection>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <Notifications position="bottom-right" limit={4} />
        <ErrorBoundary>
          <ApiProvider value={context} client={client}>
            <SessionGate again={again} cookie={cookie} identify={identify} />
          </ApiProvider>
        </ErrorBoundary>
      </MantineProvider>
    </DirectionProvider>
  )
}
