import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis, UserCog, UserMinus } from 'lucide-react'
import type { Member } from '../../../../sdk/index.ts'

export function MemberMenu({
  member,
  onChange,
  onRemove,
}: {
  member: Member
  onChange: () => void
  onRemove: () => void
}) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${member.name}`}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<UserCog size={15} />} onClick={onChange}>
          Change what they may do
        </Menu.Item>
        <Menu.Item leftSection={<UserMinus size={15} />} color="red" onClick={onRemove}>
          Remove
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
