import { notifications } from '@mantine/notifications'
import { Check, TriangleAlert } from 'lucide-react'
import { faultOf } from '../api/fault.ts'

/** Confirms briefly that something was done. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: 'verdigris', icon: <Check size={16} /> })
}

/** Shows an error where no form does. */
export function notifyFault(error: unknown): void {
  const { title, text } = faultOf(error)
  warn(title, text)
}

/** The same, if the consequence matters more than the error. */
export function notifyConsequence(consequence: string, error: unknown): void {
  const { title, text } = faultOf(error)
  warn(consequence, `${title}. ${text}`)
}

function warn(title: string, message: string): void {
  notifications.show({ title, message, color: 'red', icon: <TriangleAlert size={16} />, autoClose: 8_000 })
}
