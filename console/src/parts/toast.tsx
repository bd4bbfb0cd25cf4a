import { notifications } from '@mantine/notifications'
import { Check, TriangleAlert } from 'lucide-react'
import { faultOf } from '../api/fault.ts'

/** Says that something was done, for a moment. */
export function tellDone(message: string): void {
  notifications.show({ message, color: 'verdigris', icon: <Check size={16} /> })
}

/** For what went wrong where there is no form to say it. */
export function tellFault(error: unknown): void {
  const { title, text } = faultOf(error)
  warn(title, text)
}

/** The same, where what comes of it is more to people than what went wrong. */
export function tellUpshot(upshot: string, error: unknown): void {
  const { title, text } = faultOf(error)
  warn(upshot, `${title}. ${text}`)
}

function warn(title: string, message: string): void {
  notifications.show({ title, message, color: 'red', icon: <TriangleAlert size={16} />, autoClose: 8_000 })
}
