import { ActionIcon, type ActionIconProps, Menu } from '@mantine/core'
import { Ellipsis } from 'lucide-react'
import { type ReactNode, useRef } from 'react'

/**
 * A menu of actions behind three dots. A dialog that an item opens returns the focus to the dots, since the
 * item is gone by then.
 */
export function ActionMenu({
  label,
  children,
  ...button
}: Pick<ActionIconProps, 'variant' | 'color' | 'size'> & {
  /** Accessible name: "Actions for …". */
  label: string
  children: ReactNode
}) {
  const dots = useRef<HTMLButtonElement>(null)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon ref={dots} variant="subtle" color="gray" aria-label={label} {...button}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown onClickCapture={() => dots.current?.focus()}>{children}</Menu.Dropdown>
    </Menu>
  )
}
