/** How far each list, with its filters, was scrolled when it was last shown, in pixels. */
const offsets = new Map<string, number>()
/** A person goes back to one of the last pages. */
const MAX_OFFSETS = 50

let isReturn = false
addEventListener('popstate', () => {
  isReturn = true
})
// Of the router: a link was followed.
addEventListener('pushState', () => {
  isReturn = false
})

/** Where to start a list: where it was left if the person went back or forward, otherwise at the top. */
export function startOffsetPx(label: string): number {
  return isReturn ? (offsets.get(keyOf(label)) ?? 0) : 0
}

/** Remembers the offset of a list with the filters of the current address. */
export function keepOffset(label: string, offsetPx: number): void {
  const key = keyOf(label)
  offsets.delete(key)
  offsets.set(key, offsetPx)
  if (offsets.size > MAX_OFFSETS) offsets.delete(offsets.keys().next().value!)
}

function keyOf(label: string): string {
  // Not the path, which also names the row that is open.
  return `${label} ${location.search}`
}
