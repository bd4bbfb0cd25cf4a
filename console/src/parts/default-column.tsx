import { Badge, Button } from '@mantine/core'
import type { Column } from './data-list.tsx'
import { notifyFault } from './toast.tsx'

type ChooseAction<R> = {
  isPending: boolean
  variables: R | undefined
  mutate(row: R, options: { onError: (error: Error) => void }): void
}

/** A column that shows the default sender, or a button to make it the default. */
export function defaultColumn<R extends { id: string; isDefault: boolean }>({
  nameOf,
  may,
  choose,
}: {
  nameOf: (row: R) => string
  /** Whether this row can be made the default. */
  may: (row: R) => boolean
  choose: ChooseAction<R>
}): Column<R> {
  return {
    title: 'Default',
    hidesTitle: true,
    width: '116px',
    align: 'end',
    render: row =>
      row.isDefault ? (
        <Badge size="sm" variant="light" me={10}>
          Default
        </Badge>
      ) : (
        may(row) && (
          <Button
            size="compact-sm"
            variant="subtle"
            aria-label={`Make default: ${nameOf(row)}`}
            loading={choose.isPending && choose.variables?.id === row.id}
            onClick={() => choose.mutate(row, { onError: notifyFault })}
          >
            Make default
          </Button>
        )
      ),
  }
}
