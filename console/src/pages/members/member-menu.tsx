import { Menu } from '@mantine/core'
import { UserCog, UserMinus } from 'lucide-react'
import type { Member } from '../../../../sdk/index.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'

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
    <ActionMenu label={`Actions for ${member.name}`}>
      <Menu.Item leftSection={<UserCog size={15} />} onClick={onChange}>
        Change role and permissions
      </Menu.Item>
      <Menu.Item leftSection={<UserMinus size={15} />} color="var(--ph-bad)" onClick={onRemove}>
        Remove
      </Menu.Item>
    </ActionMenu>
  )
}
