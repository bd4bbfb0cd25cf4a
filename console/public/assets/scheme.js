// Runs before the first paint, so that a dark screen does not flash white. A separate file, since the content security policy allows no inline script.
try {
  const preferred = localStorage.getItem('mantine-color-scheme-value')
  const dark =
    preferred === 'dark' || (preferred !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.setAttribute('data-mantine-color-scheme', dark ? 'dark' : 'light')
} catch {}

// Requests the session while the other scripts are still loading; `early.ts` uses the response.
window.posthornEarly = fetch('/api/console/session').catch(() => null)
