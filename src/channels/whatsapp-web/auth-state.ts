import type { AuthenticationCreds, SignalDataTypeMap, SignalKeyStore } from 'baileys'
import type { KeyChange, SessionKeys } from '../shared/session.ts'
import type { Baileys } from './library.ts'

const CREDENTIALS = { kind: 'credentials', id: '' }
const APP_STATE_KEY = 'app-state-sync-key'

export type AuthState = {
  creds: AuthenticationCreds
  keys: SignalKeyStore
  /** Stores the present credentials; one write at a time, and of several that wait only the last. */
  saveCreds(): Promise<void>
}

/** The library's key store, on our database, as JSON. Nothing is cached, so that keys of another node are always seen. */
export async function loadAuthState(
  { BufferJSON, initAuthCreds, proto }: Baileys,
  keys: SessionKeys,
): Promise<AuthState> {
  const stored = (await keys.read(CREDENTIALS.kind, [CREDENTIALS.id])).get(CREDENTIALS.id)
  const creds = stored === undefined ? initAuthCreds() : (decode(stored) as AuthenticationCreds)
  let waiting: Promise<void> | null = null
  let saving: Promise<void> = Promise.resolve()

  function encode(value: unknown): string {
    return JSON.stringify(value, BufferJSON.replacer)
  }

  function decode(text: string): unknown {
    return JSON.parse(text, BufferJSON.reviver)
  }

  async function get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
    const found: Record<string, SignalDataTypeMap[T]> = {}
    for (const [id, text] of await keys.read(type, ids)) {
      const value = decode(text)
      found[id] = (
        type === APP_STATE_KEY
          ? proto.Message.AppStateSyncKeyData.fromObject(value as Record<string, unknown>)
          : value
      ) as SignalDataTypeMap[T]
    }
    return found
  }

  return {
    creds,
    keys: {
      get,
      async set(data) {
        const changes: KeyChange[] = Object.entries(data).flatMap(([kind, values]) =>
          Object.entries(values ?? {}).map(([id, value]) => ({
            kind,
            id,
            value: value == null ? null : encode(value),
          })),
        )
        if (changes.length > 0) await keys.write(changes)
      },
    },
    saveCreds() {
      waiting ??= saving.then(() => {
        waiting = null
        saving = keys.write([{ ...CREDENTIALS, value: encode(creds) }])
        return saving
      })
      return waiting
    },
  }
}
