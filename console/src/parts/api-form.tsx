import { Alert, Button, Group, Stack } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { TriangleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from 'react'
import { type ErrorDetail, PosthornError } from '../../../sdk/index.ts'
import { type Fault, faultOf } from '../api/fault.ts'
import { isLocalTime } from './local-time.ts'
import { useIsHere } from './use-is-here.ts'
import { useKeptFocus } from './use-kept-focus.ts'
import { useLateFault } from './use-late-fault.ts'

export type ApiForm<V extends Record<string, unknown>> = {
  fields: UseFormReturnType<V>
  /** An error of the whole form, or of a field that it does not have. */
  fault: Fault | null
  busy: boolean
  submit(event?: FormEvent): Promise<void>
  setFault(fault: Fault | null): void
}

/**
 * A form that shows the API's errors: each at its field, by the API's path,
 * the others above the button.
 *
 *     const form = useApiForm({ initial: { name: '' }, send: values => api.post('/api/v2/…', { body: values }) })
 *     <ApiForm form={form} submitLabel="Create">
 *       <TextInput label="Name" {...form.fields.getInputProps('name')} />
 *     </ApiForm>
 */
export function useApiForm<V extends Record<string, unknown>, R>(options: {
  /** The current values; when they change, untouched fields follow. */
  initial: V
  /**
   * `edited`: only the fields that differ from their current values. A change of something that exists sends these
   * alone: the others may have been changed by somebody else since they were read here.
   */
  send: (values: V, edited: Partial<V>) => Promise<R>
  onDone?: (result: R, values: V) => void
  /**
   * Closes the form's dialog when it is done; not if the person has closed it meanwhile: it may be open again, for
   * something else.
   */
  onClose?: () => void
  /** Converts the API's path to the name of the form's field. */
  fieldOf?: (path: string) => string
  /** Returns true if it has handled the error. */
  onError?: (error: unknown) => boolean
}): ApiForm<V> {
  const { send, onDone, onClose, fieldOf = path => path, onError } = options
  const fields = useForm<V>({ mode: 'controlled', initialValues: options.initial })
  const known = useFollow(fields, options.initial)
  const [fault, setFault] = useState<Fault | null>(null)
  const [busy, setBusy] = useState(false)
  const keepFocus = useKeptFocus(busy)
  const isHere = useIsHere()
  const notifyLate = useLateFault()

  async function submit(event?: FormEvent): Promise<void> {
    event?.preventDefault()
    if (busy) return
    // Another form on the page may have fields of the same names.
    const within = event?.currentTarget ?? document
    fields.clearErrors()
    if (refuseUnfinished(within)) return
    keepFocus()
    setBusy(true)
    setFault(null)
    try {
      const values = fields.getValues()
      onDone?.(await send(values, editedOf(values, known.current)), values)
      if (isHere()) onClose?.()
    } catch (error) {
      if (!isHere()) notifyLate(error)
      else if (!onError?.(error)) show(error, within)
    } finally {
      setBusy(false)
    }
  }

  /**
   * The value of a date or time that is typed only in part is empty: the API would take it for none, and send at once
   * what was to wait. A time that clocks skip would be one that was not typed. Returns whether there is one of these.
   */
  function refuseUnfinished(within: ParentNode): boolean {
    const inputs = [...within.querySelectorAll<HTMLInputElement>('input[data-path]')]
    const unfinished = inputs.filter(({ type, value, validity }) =>
      value === '' ? validity.badInput : type === 'datetime-local' && !isLocalTime(value),
    )
    for (const { dataset } of unfinished) fields.setFieldError(dataset['path']!, UNFINISHED)
    unfinished[0]?.focus()
    return unfinished.length > 0
  }

  /** Shows each detail at its field, if there is one; focuses the first of them. */
  function show(error: unknown, within: ParentNode): void {
    const details = error instanceof PosthornError ? error.details : []
    const placed = details.map(detail => {
      const field = fieldOf(detail.path).replaceAll(/\[(\d+)\]/g, '.$1')
      return { detail, field, node: within.querySelector<HTMLElement>(`[data-path="${CSS.escape(field)}"]`) }
    })
    for (const { field, node, detail } of placed)
      if (node) fields.setFieldError(field, capitalized(detail.message))
    const homeless = placed.filter(({ node }) => !node).map(({ detail }) => sentence(detail))
    if (details.length === 0) setFault(faultOf(error))
    else if (homeless.length > 0) setFault({ ...faultOf(error), text: homeless.join(' ') })
    const [first] = placed.flatMap(({ node }) => node ?? [])
    first?.focus()
  }

  return { fields, fault, busy, submit, setFault }
}

const UNFINISHED = 'Not complete, or no such time: complete it, or empty it'

function editedOf<V extends Record<string, unknown>>(values: V, known: V): Partial<V> {
  const edited = Object.entries(values).filter(([name, value]) => !isSame(value, known[name]))
  return Object.fromEntries(edited) as Partial<V>
}

/**
 * Updates untouched fields to the current values, which may have changed since the form was rendered: saving
 * would otherwise restore the old ones. Returns the current values.
 */
function useFollow<V extends Record<string, unknown>>(
  fields: UseFormReturnType<V>,
  initial: V,
): RefObject<V> {
  const known = useRef(initial)
  useEffect(() => {
    const before = known.current
    known.current = initial
    if (isSame(initial, before)) return
    const values = fields.getValues()
    const followed = follow(values, before, initial)
    if (!isSame(followed, values)) fields.setValues(followed as Partial<V>)
  })
  return known
}

/** What was edited since `before`, on top of `now`. For a group of fields, each field follows by itself. */
export function follow(value: unknown, before: unknown, now: unknown): unknown {
  if (isSame(value, before)) return now
  if (!isGroup(value) || !isGroup(before) || !isGroup(now)) return value
  const names = Object.keys({ ...value, ...now })
  return Object.fromEntries(names.map(name => [name, follow(value[name], before[name], now[name])]))
}

function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** The form element with its fields, error and button. */
export function ApiForm<V extends Record<string, unknown>>({
  form,
  submitLabel,
  children,
  extra,
  disabled = false,
  danger = false,
  fullWidth = false,
}: {
  form: ApiForm<V>
  submitLabel: string
  children?: ReactNode
  /** Shown beside the button, such as a cancel link. */
  extra?: ReactNode
  disabled?: boolean
  danger?: boolean
  fullWidth?: boolean
}) {
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="md">
        {children}
        <FaultNote fault={form.fault} />
        <Group justify="flex-end" gap="sm">
          {extra}
          <Button
            type="submit"
            loading={form.busy}
            disabled={disabled}
            fullWidth={fullWidth}
            {...(danger && { color: 'red.8' })}
          >
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export function FaultNote({ fault }: { fault: Fault | null }) {
  if (!fault) return null
  return (
    <Alert color="red" variant="light" icon={<TriangleAlert size={16} />} title={fault.title} role="alert">
      {fault.text}
    </Alert>
  )
}

function sentence({ path, message }: ErrorDetail): string {
  return `${path}: ${message}.`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
