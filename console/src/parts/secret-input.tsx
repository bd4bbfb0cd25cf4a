import { PasswordInput, type PasswordInputProps } from '@mantine/core'

/** An input for secrets. Unlike its other inputs, Mantine's PasswordInput does not set aria-invalid. */
export function SecretInput(props: PasswordInputProps) {
  return <PasswordInput aria-invalid={Boolean(props.error) || undefined} {...props} />
}
