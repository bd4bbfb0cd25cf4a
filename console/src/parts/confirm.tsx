import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { faultOf } from '../api/fault.ts'
import { FaultNote } from './api-form.tsx'
import { useIsHere } from './use-is-here.ts'
import { useKeptFocus } from './use-kept-focus.ts'
import { useLateFault } from './use-late-fault.ts'

/** Asks for confirmation of an action that cannot be undone. For severe actions, `typed` must be typed first. */
export function ConfirmDialog({
  opened,
  onClose,
  title,
  text,
  confirmLabel,
  run,
  confirmText,
  danger = true,
}: {
  opened: boolean
  onClose: () => void
  title: string
  text: ReactNode
  /** The action: "Revoke the key", never "OK". */
  confirmLabel: string
  run: () => Promise<unknown>
  confirmText?: string
  danger?: boolean
}) {
  const [busy, setBusy] = useState(false)
  const keepFocus = useKeptFocus(busy)
  const isHere = useIsHere()
  const notifyLate = useLateFault()
  const [error, setError] = useState<unknown>(null)
  const [typedText, setTyping] = useState('')

  /** Not while the action runs: its error would not be shown. */
  function close(): void {
    if (!busy) leave()
  }

  function leave(): void {
    setError(null)
    setTyping('')
    onClose()
  }

  async function confirm(): Promise<void> {
    keepFocus()
    setBusy(true)
    setError(null)
    try {
      await run()
      leave()
    } catch (thrown) {
      if (isHere()) setError(thrown)
      else notifyLate(thrown)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Stack>
        <Text component="div">{text}</Text>
        {confirmText !== undefined && (
          <TextInput
            label={`Type ${confirmText} to confirm`}
            value={typedText}
            onChange={event => setTyping(event.currentTarget.value)}
            data-autofocus
          />
        )}
        <FaultNote fault={error === null ? null : faultOf(error)} />
        <Group justify="flex-end" gap="sm">
          <Button variant="default" disabled={busy} onClick={close}>
            {' '}
            Go back{' '}
          </Button>
          <Button
            loading={busy}
            disabled={confirmText !== undefined && typedText !== confirmText}
            onClick={confirm}
            {...(danger && { color: 'red.8' })}
          >
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
