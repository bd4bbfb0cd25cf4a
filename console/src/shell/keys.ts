/** The key that shortcuts begin with, as this machine's users know it. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl '
