/** The posthorn: a coil, its bell, and the cord. */
export function Horn({ size = 22 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 32 32"
      fill="none"
      aria-hidden="true"
      style={{ flex: 'none' }}
    >
      <g stroke="var(--mantine-color-brass-5)" strokeLinecap="round" strokeLinejoin="round">
        <path
          d="M3.5 9.5h6.2c6.6 0 11.3 3.6 11.3 8.6 0 4-3 6.6-6.7 6.6-3.6 0-6.2-2.4-6.2-5.6 0-3 2.2-5.2 5.2-5.2 5 0 7.7 2.4 13.2 2.4"
          strokeWidth="2.6"
        />
        <path d="M26.3 11.6c.6 3.2.6 6.4 0 9.6" strokeWidth="2.6" />
        <path d="M3.5 7.6v3.8" strokeWidth="2.6" />
      </g>
      <path
        d="M13.2 24.6v3.2m0 0-1.8 1.6m1.8-1.6 1.8 1.6"
        stroke="var(--mantine-color-verdigris-5)"
        strokeWidth="1.8"
        strokeLinecap="round"
      />
    </svg>
  )
}

export function Wordmark({ size = 22 }: { size?: number }) {
  return (
    <span style={{ display: 'inline-flex', alignItems: 'center', gap: size * 0.36 }}>
      <Horn size={size} />
      <span style={{ fontWeight: 650, fontSize: size * 0.74, letterSpacing: '-0.015em' }}>Posthorn</span>
    </span>
  )
}
