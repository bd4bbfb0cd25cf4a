import { Group, Switch, TextInput } from '@mantine/core'
import type { AccountView } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'

export type QuietDraft = { on: boolean; start: string; end: string }
type QuietHours = AccountView['quietHours']

const USUAL = { start: '21:00', end: '08:00' }

export function quietDraft(quietHours: QuietHours): QuietDraft {
  return { on: quietHours !== null, ...(quietHours ?? USUAL) }
}

export function quietBody({ on, start, end }: QuietDraft): { quietHours: QuietHours } {
  return { quietHours: on ? { start, end } : null }
}

export function quietField(path: string): string {
  return path.replace(/^quietHours\./, '').replace(/^quietHours$/, 'end')
}

export function quietHoursText(quietHours: QuietHours): string {
  return quietHours === null
    ? 'Marketing messages are sent at any hour.'
    : `Marketing messages wait from ${quietHours.start} to ${quietHours.end}.`
}

/** The daily quiet hours for marketing. */
export function QuietFields({ form }: { form: ApiForm<QuietDraft> }) {
  const { getInputProps, values } = form.fields
  return (
    <>
      <Switch
        label="Hold marketing messages at night"
        description="Marketing messages within these hours are sent when the hours end"
        {...getInputProps('on', { type: 'checkbox' })}
      />
      {values.on && (
        <Group align="flex-start">
          <TextInput label="From" type="time" w={140} {...getInputProps('start')} />
          <TextInput label="Until" type="time" w={140} {...getInputProps('end')} />
        </Group>
      )}
    </>
  )
}
