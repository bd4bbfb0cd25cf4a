import { Button, type ButtonProps, FileButton } from '@mantine/core'
import { useRef } from 'react'

/** A button that takes a file; the same one again as well, since somebody may have mended it meanwhile. */
export function ChooseFile({
  accept,
  onFile,
  ...button
}: ButtonProps & { accept: string; onFile: (file: File) => void }) {
  const forget = useRef<() => void>(null)

  function take(file: File | null): void {
    // A browser tells of no choice that is the one before.
    forget.current?.()
    if (file) onFile(file)
  }

  return (
    <FileButton accept={accept} onChange={take} resetRef={forget}>
      {props => <Button {...button} {...props} />}
    </FileButton>
  )
}
