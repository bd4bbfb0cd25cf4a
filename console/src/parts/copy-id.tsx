import { CopyButton } from './copy-button.tsx'

/** An id or another technical value, with a copy button. */
export function CopyId({ id, what = 'the id' }: { id: string; what?: string }) {
  return (
    <span className="ph-mono" dir="ltr">
      {id} <CopyButton text={id} what={what} small />
    </span>
  )
}
