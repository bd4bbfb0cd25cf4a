import { TextInput, type TextInputProps } from '@mantine/core'

/**
 * An input for an amount, parsed by `amountOf`. Not `NumberInput`, which takes every comma for a thousands
 * separator, and so turns a pasted 12,50 into 1250.
 */
export function AmountInput(props: TextInputProps) {
  return <TextInput inputMode="decimal" autoComplete="off" dir="ltr" {...props} />
}
