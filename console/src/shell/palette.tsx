import { Text, useMantineColorScheme } from '@mantine/core'
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight'
import { BookOpen, FlaskConical, LogOut, Moon, Search, Sun, Users, Zap } from 'lucide-react'
import { useLocation } from 'wouter'
import { useSession } from '../session/context.tsx'
import { usePages } from './use-pages.ts'

const ICON = { size: 16, strokeWidth: 1.9 }

/** The command palette: pages and global actions, found by name and search terms. */
export function Palette() {
  const [, go] = useLocation()
  const { session, mode, choose, signOut, membership } = useSession()
  const { setColorScheme } = useMantineColorScheme()

  const pages: SpotlightActionData[] = usePages().map(page => ({
    id: page.path,
    label: page.title,
    keywords: page.keywords ?? '',
    leftSection: <page.icon {...ICON} />,
    rightSection: (
      // Inherits the colour of its row.
      <Text size="xs">{page.section}</Text>
    ),
    onClick: () => go(page.path),
  }))
  const accounts: SpotlightActionData[] = session.memberships
    .filter(({ account }) => account.id !== membership?.account.id)
    .map(({ account }) => ({
      id: account.id,
      label: `Switch to ${account.name}`,
      leftSection: <Users {...ICON} />,
      onClick: () => choose({ accountId: account.id }),
    }))
  const other = mode === 'test' ? ('live' as const) : ('test' as const)
  const actions: SpotlightActionData[] = [
    ...accounts,
    {
      id: 'mode',
      label: other === 'live' ? 'Switch to live mode' : 'Switch to test mode',
      leftSection: other === 'live' ? <Zap {...ICON} /> : <FlaskConical {...ICON} />,
      onClick: () => choose({ mode: other }),
    },
    {
      id: 'light',
      label: 'Light colours',
      keywords: 'theme',
      leftSection: <Sun {...ICON} />,
      onClick: () => setColorScheme('light'),
    },
    {
      id: 'dark',
      label: 'Dark colours',
      keywords: 'theme',
      leftSection: <Moon {...ICON} />,
      onClick: () => setColorScheme('dark'),
    },
    {
      id: 'docs',
      label: 'API reference',
      keywords: 'documentation openapi',
      leftSection: <BookOpen {...ICON} />,
      onClick: () => void window.open('/docs', '_blank', 'noreferrer'),
    },
    {
      id: 'out',
      label: 'Sign out',
      keywords: 'log out leave',
      leftSection: <LogOut {...ICON} />,
      onClick: () => void signOut(),
    },
  ]
  return (
    <Spotlight
      actions={[
        { group: 'Pages', actions: pages },
        { group: 'Actions', actions },
      ]}
      shortcut="mod + K"
      attributes={{ content: { 'aria-label': 'Command palette' } }}
      highlightQuery
      scrollable
      maxHeight={420}
      nothingFound="No matches"
      searchProps={{
        leftSection: <Search size={16} />,
        placeholder: 'Search pages and actions',
        'aria-label': 'Search',
      }}
    />
  )
}
