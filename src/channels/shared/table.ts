/** An entry of a table by an untrusted key: properties of Object.prototype are not entries. */
export function entryOf<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}
