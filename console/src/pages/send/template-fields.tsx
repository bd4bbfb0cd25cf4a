import { TextInput } from '@mantine/core'
import { useEffect, useRef } from 'react'
import type { TemplateView } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import type { Draft } from './draft.ts'

type Fields = ApiForm<Draft>['fields']

/** The inputs of a template: a value for each placeholder, and the variable of each button's URL. */
export function TemplateFields({ fields, template }: { fields: Fields; template: TemplateView }) {
  const { getInputProps, values } = fields
  return (
    <>
      {template.indexedPlaceholders.map((place, at) => (
        <TextInput key={place} label={place} {...getInputProps(`variables.${at}`)} />
      ))}
      {values.buttons.map(({ index }, at) => (
        <TextInput
          key={index}
          label={`Button ${index + 1}: end of the URL`}
          dir="ltr"
          {...getInputProps(`buttons.${at}.text`)}
        />
      ))}
    </>
  )
}

/**
 * Gives the form empty variables for each template that is chosen, in the form or by a link. Not for one that was only
 * read again, as after a switch of the mode: what was typed stays.
 */
export function useVariablesOf(template: TemplateView | undefined, { values, setValues }: Fields): void {
  const known = useRef<string | null>(null)
  useEffect(() => {
    if (!template) return
    const empty = emptyFor(template)
    const isSameForm =
      values.variables.length === empty.variables.length && values.buttons.length === empty.buttons.length
    if (known.current === template.id && isSameForm) return
    known.current = template.id
    if (empty.variables.length + empty.buttons.length > 0 || !isSameForm) setValues(empty)
  })
}

function emptyFor({
  indexedPlaceholders,
  urlButtonVariables,
}: TemplateView): Pick<Draft, 'variables' | 'buttons'> {
  return {
    variables: indexedPlaceholders.map(() => ''),
    buttons: urlButtonVariables.map(({ index, subType }) => ({ index, subType, text: '' })),
  }
}
