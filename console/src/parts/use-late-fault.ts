import { useApiContext } from '../api/context.tsx'
import { notifyFault } from './toast.tsx'

/**
 * Tells that an action failed whose form or dialog is gone: otherwise nobody would know. Not after a sign-out, which
 * says so itself.
 */
export function useLateFault(): (error: unknown) => void {
  const { identity } = useApiContext()
  return error => {
    if (identity().csrfToken !== null) notifyFault(error)
  }
}
