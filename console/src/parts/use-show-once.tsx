import { notifications } from '@mantine/notifications'
import { useApiContext } from '../api/context.tsx'
import { Snippet } from './code.tsx'
import { useIsHere } from './use-is-here.ts'

/**
 * Shows what cannot be read again, such as a new key: by `show`, or, if the person has left the page while it was
 * created, in a note that stays until they close it. Not after a sign-out.
 */
export function useShowOnce(): (title: string, secret: string, show: () => void) => void {
  const isHere = useIsHere()
  const { identity } = useApiContext()
  return (title, secret, show) => {
    if (isHere()) return show()
    if (identity().csrfToken === null) return
    notifications.show({
      title: `${title}, shown only this once`,
      message: <Snippet code={secret} label={title} />,
      autoClose: false,
      color: 'brass',
    })
  }
}
