const MOST_NAMED = 5

/** Adds to the confirmation which keys of a removed person are still valid. */
export function withKeysLeft(done: string, { apiKeys }: { apiKeys: readonly { name: string }[] }): string {
  if (apiKeys.length === 0) return done
  const named = apiKeys.slice(0, MOST_NAMED).map(({ name }) => `“${name}”`)
  const more = apiKeys.length > MOST_NAMED ? ` and ${apiKeys.length - MOST_NAMED} more` : ''
  return `${done} Keys that they created still work: ${named.join(', ')}${more}. Revoke those that they may still know.`
}
