import {
  ActionIcon,
  Kbd,
  Menu,
  Text,
  Tooltip,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { spotlight } from '@mantine/spotlight'
import { BookOpen, CircleHelp, LogOut, Moon, Search, ShieldUser, Sun, UserRound } from 'lucide-react'
import { Link } from 'wouter'
import { useSession } from '../session/context.tsx'
import classes from './frame.module.css'
import { MOD } from './keys.ts'
import { openShortcuts } from './shortcuts.tsx'

/** Search, light and dark, and who is signed in. */
export function HeaderTools() {
  return (
    <>
      <UnstyledButton
        className={classes.search}
        onClick={spotlight.open}
        visibleFrom="sm"
        aria-keyshortcuts="Meta+K Control+K"
      >
        <Search size={14} aria-hidden /> Search
        <Kbd size="xs" ms="lg">
          {MOD}K
        </Kbd>
      </UnstyledButton>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        hiddenFrom="sm"
        onClick={spotlight.open}
        aria-label="Search"
      >
        <Search size={18} />
      </ActionIcon>
      <SchemeToggle />
      <UserMenu />
    </>
  )
}

function SchemeToggle() {
  const { setColorScheme } = useMantineColorScheme()
  const dark = useComputedColorScheme('light') === 'dark'
  const label = dark ? 'Light colours' : 'Dark colours'
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        onClick={() => setColorScheme(dark ? 'light' : 'dark')}
        aria-label={label}
      >
        {dark ? <Sun size={18} /> : <Moon size={18} />}
      </ActionIcon>
    </Tooltip>
  )
}

function UserMenu() {
  const { session, signOut } = useSession()
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Signed in as ${session.user.name}`}>
          <UserRound size={18} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="md" fw={600} c="var(--mantine-color-text)" truncate>
            {session.user.name}
          </Text>
          <Text size="xs" truncate>
            {session.user.email}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Item leftSection={<ShieldUser size={15} />} component={Link} href="/profile">
          Your login
        </Menu.Item>
        <Menu.Item leftSection={<CircleHelp size={15} />} onClick={openShortcuts}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item
          leftSection={<BookOpen size={15} />}
          component="a"
          href="/docs"
          target="_blank"
          rel="noreferrer"
        >
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item leftSection={<LogOut size={15} />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
