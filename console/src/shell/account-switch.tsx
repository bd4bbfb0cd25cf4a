import { Avatar, Menu, Text, UnstyledButton } from '@mantine/core'
import { Check, ChevronsUpDown } from 'lucide-react'
import { useSession } from '../session/context.tsx'
import classes from './frame.module.css'

/** The current account, with a choice of others if there are any. */
export function AccountSwitch() {
  const { session, membership, choose } = useSession()
  const many = session.memberships.length > 1
  const name = membership?.account.name ?? (session.user.operator ? 'Platform' : 'No account')
  const role = membership?.role ?? (session.user.operator ? 'operator' : null)
  return (
    <Menu position="bottom-start" width={212} disabled={!many}>
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <Avatar size={26} radius="sm" color="verdigris" variant="filled" name={name} aria-hidden>
            {name.slice(0, 1).toUpperCase()}
          </Avatar>
          <span style={{ minWidth: 0, flex: 1 }}>
            <Text size="md" fw={600} lh={1.2} truncate>
              {name}
            </Text>
            {role !== null && (
              <Text size="xs" c="dimmed" lh={1.3} tt="capitalize">
                {role}
              </Text>
            )}
          </span>
          {many && <ChevronsUpDown size={14} aria-hidden />}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {session.memberships.map(({ account, role }) => (
          <Menu.Item
            key={account.id}
            onClick={() => choose({ accountId: account.id })}
            rightSection={
              account.id === membership?.account.id ? <Check size={14} aria-label="chosen" /> : null
            }
          >
            <Text size="md" truncate>
              {account.name}
            </Text>
            <Text size="xs" c="dimmed" tt="capitalize">
              {role}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
