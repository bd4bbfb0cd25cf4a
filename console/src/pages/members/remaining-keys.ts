const MAX_NAMED = 5

/** Adds to the confirmation which keys of a removed person are still valid. */
export function withRemainingKeys(
  done: string,
  { apiKeys }: { apiKeys: readonly { name: string }[] },
): string {
  if (apiKeys.length === 0) return done
  const named = apiKeys.slice(0, MAX_NAMED).map(({ name }) => `“${name}”`)
  const more = apiKeys.length > MAX_NAMED ? ` and ${apiKeys.length - MAX_NAMED} more` : ''
  return `${done} Keys that they created still work: ${named.join(', ')}${more}. Revoke those that they may still know.`
}
