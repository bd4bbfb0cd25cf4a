/** Copies `text` to the clipboard; false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  // The clipboard API is not available on plain http.
  if ('clipboard' in navigator) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  return copyBySelection(text)
}

function copyBySelection(text: string): boolean {
  const field = document.createElement('textarea')
  const before = document.activeElement
  field.value = text
  field.readOnly = true
  field.className = 'ph-unseen'
  // Next to the focused element, since a dialog traps the focus.
  ;(before?.parentElement ?? document.body).append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
    if (before instanceof HTMLElement) before.focus()
  }
}
