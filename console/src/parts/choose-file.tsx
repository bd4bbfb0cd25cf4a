import { Button, type ButtonProps, FileButton } from '@mantine/core'
import { useRef } from 'react'

/** A button to choose a file; the same file can be chosen again, since it may have been corrected. */
export function ChooseFile({
  accept,
  onFile,
  ...button
}: ButtonProps & { accept: string; onFile: (file: File) => void }) {
  const forget = useRef<() => void>(null)

  function take(file: File | null): void {
    // Browsers do not report choosing the same file again, so the input is reset.
    forget.current?.()
    if (file) onFile(file)
  }

  return (
    <FileButton accept={accept} onChange={take} resetRef={forget}>
      {props => <Button {...button} {...props} />}
    </FileButton>
  )
}
