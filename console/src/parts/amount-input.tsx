import { TextInput, type TextInputProps } from '@mantine/core'

/**
 * A field for money, whose text `amountOf` reads. Not `NumberInput`, which makes 1250 of a 12,50 that
 * is pasted: it takes each comma for one between thousands.
 */
export function AmountInput(props: TextInputProps) {
  return <TextInput inputMode="decimal" autoComplete="off" dir="ltr" {...props} />
}
