/** Puts `text` where it can be pasted from; false where the browser does not let it. */
export async function copyText(text: string): Promise<boolean> {
  // Not there on plain http.
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
  // Beside what was pressed: a dialog keeps the focus within itself.
  ;(before?.parentElement ?? document.body).append(field)
  field.select()
  try {
    return document.execCommand('copy')
  } finally {
    field.remove()
    if (before instanceof HTMLElement) before.focus()
  }
}
