import { Table, type TableProps } from '@mantine/core'

/** A table that scrolls horizontally if it does not fit, also by keyboard. */
export function WideTable({
  label,
  minWidth,
  maxHeight,
  children,
  ...props
}: TableProps & { label: string; minWidth: number; maxHeight?: number }) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      {...(maxHeight !== undefined && { maxHeight })}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label } }}
    >
      <Table verticalSpacing={8} horizontalSpacing="md" fz="sm" {...props}>
        {children}
      </Table>
    </Table.ScrollContainer>
  )
}
