import { TextInput } from '@mantine/core'
import { useEffect } from 'react'
import type { TemplateView } from '../../../../sdk/index.ts'
import type { ApiForm } from '../../parts/api-form.tsx'
import type { Draft } from './draft.ts'

type Fields = ApiForm<Draft>['fields']

/** The inputs of a template: a value for each placeholder, and the variable of each button's URL. */
export function TemplateFields({ fields, template }: { fields: Fields; template: TemplateView }) {
  const { getInputProps, values, setValues } = fields
  // A link may have chosen the template: the form has no values for its variables yet.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for a template
  useEffect(() => setValues(emptyFor(template)), [template.id])
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

function emptyFor({
  indexedPlaceholders,
  urlButtonVariables,
}: TemplateView): Pick<Draft, 'variables' | 'buttons'> {
  return {
    variables: indexedPlaceholders.map(() => ''),
    buttons: urlButtonVariables.map(({ index, subType }) => ({ index, subType, text: '' })),
  }
}
