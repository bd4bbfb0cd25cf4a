import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { faultOf } from '../../api/fault.ts'
import { useRead } from '../../api/use-read.ts'

/** Those created last; the others are found by a part of their name, or by their id. */
const MAX_SHOWN = 50
const SETTLE_MS = 300
/** The API's limit for a search. */
const MAX_CHARACTERS = 254

type Choice = { value: string; label: string }
type Props = Omit<SelectProps, 'value' | 'data' | 'filter' | 'onSearchChange'> & {
  value?: string | null
  /** A choice before the accounts. */
  first?: Choice
}

/** A choice of one account, however many there are: the server searches for what is typed. */
export function AccountSelect({ value = null, first, ...props }: Props) {
  const [typed, setTyped] = useState('')
  const wanted = typed.trim().slice(0, MAX_CHARACTERS)
  const [settled] = useDebouncedValue(wanted, SETTLE_MS)
  const chosen = useChosen(value === first?.value ? null : value)
  // The text of the choice is no search.
  const isSearch = ![undefined, '', chosen?.label].includes(settled) && settled !== first?.label
  const found = useRead(
    '/api/admin/accounts',
    { query: { limit: MAX_SHOWN, ...(isSearch && { q: settled }) } },
    { keepsPrevious: true },
  )
  const accounts = (found.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const matches = new Set(
    wanted === settled && !found.isPlaceholderData ? accounts.map(account => account.value) : [],
  )
  const others = accounts.filter(account => account.value !== chosen?.value)
  return (
    <Select
      searchable
      {...props}
      value={value}
      data={[first, chosen, ...others].filter(choice => choice != null)}
      // An account that is found by its id does not have the text in its name.
      filter={({ options, search }) =>
        options.filter(
          option => 'value' in option && (matches.has(`${option.value}`) || isNamed(option.label, search)),
        )
      }
      onSearchChange={setTyped}
      nothingFoundMessage={found.error ? faultOf(found.error).title : 'No matching accounts'}
    />
  )
}

/** The account of this id; it may be none of those that are found. */
function useChosen(id: string | null): Choice | null {
  const { data, error } = useRead(
    '/api/admin/accounts/{id}',
    { path: { id: id ?? '' } },
    { enabled: id !== null },
  )
  if (id === null || !(data || error)) return null
  return { value: id, label: data?.data.name ?? id }
}

function isNamed(name: string, search: string): boolean {
  return name.toLowerCase().includes(search.trim().toLowerCase())
}
