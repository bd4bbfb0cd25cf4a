import { CopyButton } from './copy-button.tsx'

/** An id, or another word of machines, with a way to take it along. */
export function CopyId({ id, what = 'the id' }: { id: string; what?: string }) {
  return (
    <span className="ph-mono" dir="ltr">
      {id} <CopyButton text={id} what={what} small />
    </span>
  )
}
