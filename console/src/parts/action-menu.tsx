import { ActionIcon, type ActionIconProps, Menu } from '@mantine/core'
import { Ellipsis } from 'lucide-react'
import { type ReactNode, useRef } from 'react'

/**
 * What can be done with something, behind three dots. A dialog that an item opens gives the focus back to
 * the dots: the item itself is gone by then.
 */
export function ActionMenu({
  label,
  children,
  ...button
}: Pick<ActionIconProps, 'variant' | 'color' | 'size'> & {
  /** For those who do not see it: "What to do with …". */
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
