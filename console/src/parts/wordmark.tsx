import classes from './wordmark.module.css'

/** The posthorn: mouthpiece, one coil, bell. */
export function Horn({ size = 22 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 32 32"
      fill="none"
      aria-hidden="true"
      className={classes.horn}
    >
      <path
        d="M3 10.5h11.2a6.9 6.9 0 1 1-6.9 6.9c0-3.8 3.1-6.9 6.9-6.9h7"
        stroke="currentColor"
        strokeWidth="2.7"
        strokeLinecap="round"
      />
      <path d="M3 7.8v5.4" stroke="currentColor" strokeWidth="2.4" strokeLinecap="round" />
      <path
        d="M19.5 9.200c4.200-.1 7.400-1.9 9.9-5v12.600c-2.500-3.100-5.700-4.9-9.9-5z"
        fill="currentColor"
      />
    </svg>
  )
}

export function Wordmark({ size = 22 }: { size?: number }) {
  return (
    <span className={classes.mark} style={{ gap: size * 0.36 }}>
      <Horn size={size} />
      <span className={classes.name} style={{ fontSize: size * 0.76 }}>
        Posthorn
      </span>
    </span>
  )
}
