import { Button, CloseButton, Group, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { Search } from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react'

/** The filters above a list, and the way out of all of them. */
export function FilterBar({ children, onClear }: { children: ReactNode; onClear: (() => void) | null }) {
  // What is typed and not told yet goes, too: each time the filters begin anew.
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

/** A filter that one types; it asks when the typing rests. */
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
  const told = useRef(value ?? '')
  const tell = useDebouncedCallback((text: string) => {
    told.current = text
    onChange(text === '' ? null : text)
  }, SETTLE_MS)
  useEffect(() => {
    // Changed from elsewhere: by "back", or by clearing all.
    if ((value ?? '') === told.current) return
    told.current = value ?? ''
    setTyped(value ?? '')
  }, [value])

  function change(text: string): void {
    setTyped(text)
    tell(text.trim())
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

/** A filter that one chooses; none is all of them. */
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
