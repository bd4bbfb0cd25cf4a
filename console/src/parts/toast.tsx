import { notifications } from '@mantine/notifications'
import { Check, TriangleAlert } from 'lucide-react'
import { faultOf } from '../api/fault.ts'

/** Confirms briefly that something was done. */
export function tellDone(message: string): void {
  notifications.show({ message, color: 'verdigris', icon: <Check size={16} /> })
}

/** Shows an error where no form does. */
export function tellFault(error: unknown): void {
  const { title, text } = faultOf(error)
  warn(title, text)
}

/** The same, if the consequence matters more than the error. */
export function tellUpshot(upshot: string, error: unknown): void {
  const { title, text } = faultOf(error)
  warn(upshot, `${title}. ${text}`)
}

function warn(title: string, message: string): void {
  notifications.show({ title, message, color: 'red', icon: <TriangleAlert size={16} />, autoClose: 8_000 })
}
