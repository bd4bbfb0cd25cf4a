import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** What nobody is to read over a shoulder. Mantine's own does not say of itself that it is at fault, as its other inputs do. */
export function SecretInput(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={Boolean(props.error) || undefined} {...props} />
}
