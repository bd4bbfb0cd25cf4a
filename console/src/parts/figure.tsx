import { Skeleton } from '@mantine/core'
import type { CSSProperties, ReactNode } from 'react'
import { Link } from 'wouter'
import classes from './figure.module.css'
import type { Tone } from './status-badge.tsx'

/** A number with its label and a note. */
export function Figure({
  label,
  value,
  note,
  tone,
  href,
  format = number => number.toLocaleString(),
}: {
  label: string
  value: number | undefined
  note?: ReactNode
  tone?: Tone | undefined
  href?: string
  format?: (value: number) => string
}) {
  const text = value === undefined ? null : format(value)
  const content = (
    <>
      <span className={classes.label}>{label}</span>
      <span
        className={classes.value}
        data-tone={tone}
        style={{ '--ph-characters': text?.length ?? 1 } as CSSProperties}
      >
        {text ?? <Skeleton h={26} w={64} />}
      </span>
      <span className={classes.note}>{note ?? '\u00a0'}</span>
    </>
  )
  if (href === undefined) return <div className={`ph-card ${classes.figure}`}>{content}</div>
  return (
    <Link href={href} className={`ph-card ${classes.figure}`}>
      {content}
    </Link>
  )
}
