import { Group, Kbd, Modal, Stack, Text } from '@mantine/core'
import { useEffect, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { MOD } from './keys.ts'
import { usePages } from './use-pages.ts'

const OPEN = 'posthorn-shortcuts'
/** The class of this file's dialog, in which shortcuts still work. */
const OWN = 'ph-shortcuts'
/** How long `g` waits for the letter of a page, in ms. */
const SEQUENCE_MS = 1_200

export function openShortcuts(): void {
  window.dispatchEvent(new Event(OPEN))
}

/** `g` and a letter opens a page, `/` focuses the first filter, `?` shows all shortcuts. */
export function Shortcuts() {
  const [, go] = useLocation()
  const [opened, setOpened] = useState(false)
  const pages = usePages()
  const reachable = useMemo(() => pages.filter(page => page.shortcut !== undefined), [pages])

  useEffect(() => {
    let startedMs = Number.NEGATIVE_INFINITY
    function onKey(event: KeyboardEvent): void {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || isDialogOpen()) return
      const inSequence = event.timeStamp - startedMs < SEQUENCE_MS
      startedMs = Number.NEGATIVE_INFINITY
      const page = inSequence ? reachable.find(({ shortcut }) => shortcut === event.key) : undefined
      if (page) {
        setOpened(false)
        go(page.path)
      }
      if (event.key === 'g') startedMs = event.timeStamp
      if (event.key === '?') setOpened(true)
      if (event.key === '/' && focusFilter()) event.preventDefault()
    }
    const open = () => setOpened(true)
    window.addEventListener('keydown', onKey)
    window.addEventListener(OPEN, open)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener(OPEN, open)
    }
  }, [go, reachable])

  return (
    <Modal
      opened={opened}
      onClose={() => setOpened(false)}
      title="Keyboard shortcuts"
      classNames={{ content: OWN }}
    >
      <Stack gap={6}>
        <Shortcut keys={[`${MOD}K`]} does="Search pages and actions" />
        <Shortcut keys={['/']} does="Go to the first filter of a list" />
        <Shortcut keys={['↑', '↓']} does="Move through the rows of a list" />
        <Shortcut keys={['Enter']} does="Open the row" />
        <Shortcut keys={['Esc']} does="Close the dialog or panel" />
        <Shortcut keys={['?']} does="Show these shortcuts" />
        {reachable.map(page => (
          <Shortcut key={page.path} keys={['g', page.shortcut!]} does={page.title} />
        ))}
      </Stack>
    </Modal>
  )
}

function Shortcut({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <Group justify="space-between">
      <Text>{does}</Text>
      <Group gap={4}>
        {keys.map(key => (
          <Kbd key={key}>{key}</Kbd>
        ))}
      </Group>
    </Group>
  )
}

/** Inputs that take letters; radio buttons and checkboxes do not. */
const TYPED = 'input:not([type="radio"], [type="checkbox"]), textarea, select'

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED))
}

/**
 * Whether a dialog is open: then shortcuts are off, since leaving the page would lose what was typed or shown
 * only once.
 */
function isDialogOpen(): boolean {
  return document.querySelector(`.mantine-Modal-content:not(.${OWN})`) !== null
}

function focusFilter(): boolean {
  const filter = document.querySelector<HTMLElement>('#main [data-filter]')
  filter?.focus()
  return filter !== null
}
