import classes from './phone.module.css'
import { piecesOf } from './placeholders.ts'

/** Text with the examples filled in and highlighted. */
export function Filled({ text, values }: { text: string; values: readonly string[] }) {
  return piecesOf(text).map((piece, at) => {
    if (typeof piece === 'string') return piece
    const value = values[piece - 1]
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: one may stand there twice
      <span key={at} className={classes.place} data-empty={!value || undefined}>
        {value || `{{${piece}}}`}
      </span>
    )
  })
}
