import { Alert, Button, Group, Stack } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { TriangleAlert } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { type ErrorDetail, PosthornError } from '../../../sdk/index.ts'
import { type Fault, faultOf } from '../api/fault.ts'
import { useKeptFocus } from './use-kept-focus.ts'

export type ApiForm<V extends Record<string, unknown>> = {
  fields: UseFormReturnType<V>
  /** What is wrong with the whole, or with something that has no field here. */
  fault: Fault | null
  busy: boolean
  submit(event?: FormEvent): Promise<void>
  setFault(fault: Fault | null): void
}

/**
 * A form whose faults are the API's own: each at its field, by the path that
 * the API names, the rest above the button.
 *
 *     const form = useApiForm({ initial: { name: '' }, send: values => api.post('/api/v2/…', { body: values }) })
 *     <ApiForm form={form} submitLabel="Create">
 *       <TextInput label="Name" {...form.fields.getInputProps('name')} />
 *     </ApiForm>
 */
export function useApiForm<V extends Record<string, unknown>, R>(options: {
  /** What stands; where that changes, fields that nobody has touched follow it. */
  initial: V
  send: (values: V) => Promise<R>
  onDone?: (result: R, values: V) => void
  /** The API's name of a field, where the form's is another. */
  fieldOf?: (path: string) => string
  /** True where it took care of the error itself. */
  onError?: (error: unknown) => boolean
}): ApiForm<V> {
  const { send, onDone, fieldOf = path => path, onError } = options
  const fields = useForm<V>({ mode: 'controlled', initialValues: options.initial })
  useFollow(fields, options.initial)
  const [fault, setFault] = useState<Fault | null>(null)
  const [busy, setBusy] = useState(false)
  const keepFocus = useKeptFocus(busy)

  async function submit(event?: FormEvent): Promise<void> {
    event?.preventDefault()
    if (busy) return
    // Another form of the page may have fields of the same names.
    const within = event?.currentTarget ?? document
    keepFocus()
    setBusy(true)
    setFault(null)
    fields.clearErrors()
    try {
      const values = fields.getValues()
      onDone?.(await send(values), values)
    } catch (error) {
      if (!onError?.(error)) show(error, within)
    } finally {
      setBusy(false)
    }
  }

  /** Each detail at its field, as far as there is one; the first of these is where one goes on. */
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

/**
 * Fields that nobody has touched are as what stands is now: it may have been changed elsewhere since the form was
 * drawn, and saving another field would put back what was.
 */
function useFollow<V extends Record<string, unknown>>(fields: UseFormReturnType<V>, initial: V): void {
  const known = useRef(initial)
  useEffect(() => {
    const before = known.current
    known.current = initial
    if (isSame(initial, before)) return
    const values = fields.getValues()
    const followed = follow(values, before, initial)
    if (!isSame(followed, values)) fields.setValues(followed as Partial<V>)
  })
}

/** Of a group of fields each for itself. */
function follow(value: unknown, before: unknown, now: unknown): unknown {
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

/** The form around its fields, what is wrong with it, and its button. */
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
  /** Beside the button, such as a way out. */
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
