import { Button, CloseButton, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react'

/** The filters above a list, with a button to clear them. */
export function FilterBar({ children, onClear }: { children: ReactNode; onClear: (() => void) | null }) {
  // A new key also discards text that was typed but not applied yet.
  const [times, setTimes] = useState(0)
  const clear = () => {
    setTimes(times + 1)
    onClear?.()
  }
  return (
    <Group gap="xs" mb="sm" role="search" aria-label="Filters">
      <Fragment key={times}>{children}</Fragment>
      {onClear !== null && (
        <Button variant="subtle" color="gray" size="sm" onClick={clear}>
          Clear filters
        </Button>
      )}
    </Group>
  )
}

const SETTLE_MS = 300

/** A text filter, applied when typing pauses. */
export function TextFilter({
  label,
  value,
  onChange,
  width = 220,
}: {
  label: string
  value: string | undefined
  onChange: (value: string | null) => void
  width?: number
}) {
  const [typed, setTyped] = useState(value ?? '')
  const applied = useRef(value ?? '')
  const apply = useDebouncedCallback((text: string) => {
    applied.current = text
    onChange(text === '' ? null : text)
  }, SETTLE_MS)
  useEffect(() => {
    // Changed from outside: by the back button, or by clearing all filters.
    if ((value ?? '') === applied.current) return
    applied.current = value ?? ''
    setTyped(value ?? '')
  }, [value])

  function change(text: string): void {
    setTyped(text)
    apply(text.trim())
  }

  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      size="sm"
      w={width}
      data-filter
      leftSection={<Search size={14} aria-hidden />}
      rightSection={
        typed !== '' && <CloseButton size="sm" aria-label={`Clear ${label}`} onClick={() => change('')} />
      }
      value={typed}
      onChange={event => change(event.currentTarget.value)}
    />
  )
}

/** A filter with options; none means all. */
export function ChoiceFilter({
  label,
  value,
  options,
  onChange,
  width = 170,
}: {
  label: string
  value: string | undefined
  options: readonly { value: string; label: string }[]
  onChange: (value: string | null) => void
  width?: number
}) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      size="sm"
      w={width}
      clearable
      searchable={options.length > 8}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
      data={[...options]}
      value={value ?? null}
      onChange={onChange}
    />
  )
}
