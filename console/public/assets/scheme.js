// Before the first paint, so that a dark screen never flashes white. A file of its own: the page's policy allows no inline script.
try {
  const wished = localStorage.getItem('mantine-color-scheme-value')
  const dark = wished === 'dark' || (wished !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
} catch {}

// And while the program is still being fetched: who is signed in. `early.ts` takes the answer.
window.posthornEarly = fetch('/api/console/session').catch(() => null)
