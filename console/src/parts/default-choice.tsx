import { Badge, Button } from '@mantine/core'

/** In the row of a sender: that it is the default, or the way to make it so. */
export function DefaultChoice({
  name,
  isDefault,
  busy,
  onChoose,
}: {
  name: string
  isDefault: boolean
  busy: boolean
  onChoose: () => void
}) {
  if (isDefault) {
    return (
      <Badge size="sm" variant="light" me={10}>
        Default
      </Badge>
    )
  }
  return (
    <Button
      size="compact-sm"
      variant="subtle"
      aria-label={`Make default: ${name}`}
      loading={busy}
      onClick={onChoose}
    >
      Make default
    </Button>
  )
}
