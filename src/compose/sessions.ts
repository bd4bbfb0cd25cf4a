import type { LinkSpec } from '../channels/links.ts'
import type { Provider } from '../channels/provider.ts'
import { withWebDefaults } from '../channels/whatsapp-web/config.ts'
import { isBaileysInstalled, NOT_INSTALLED } from '../channels/whatsapp-web/library.ts'
import { paceOf } from '../channels/whatsapp-web/pace.ts'
import { openWebSession } from '../channels/whatsapp-web/session.ts'
import { WHATSAPP_WEB } from '../channels/whatsapp-web.ts'
import { carriedBy } from '../core/connections/carrier.ts'
import { readMessage } from '../core/messages/message-store.ts'
import { createHeldKeys } from '../core/sessions/keys.ts'
import { createWebSessions } from '../core/sessions/sessions.ts'
import { createSessionStates } from '../core/sessions/states.ts'
import type { SessionRow } from '../core/sessions/store.ts'
import { type AccountId, isId } from '../lib/ids.ts'
import { holdSession } from '../workers/held-session.ts'
import { startLoop } from '../workers/loop.ts'
import type { NodeLease } from '../workers/node-lease.ts'
import { createSessionKeeper } from '../workers/session-keeper.ts'
import type { AccountRooms } from './accounts.ts'
import type { Foundation } from './foundation.ts'
import type { MessageRooms } from './messages.ts'

export type SessionRooms = ReturnType<typeof createSessionRooms>

/** Web sessions: the operations of accounts, and the keeper of those that this node holds. */
export function createSessionRooms(
  base: Foundation,
  rooms: AccountRooms,
  { links, ioOf }: MessageRooms,
  providers: ReadonlyMap<string, Provider>,
  lease: NodeLease,
  stopping: () => boolean,
) {
  const { config, db, clock, ids, log, seal, changes, phones } = base
  const supplier = providers.get(WHATSAPP_WEB)!
  const sessionStates = createSessionStates({ db, clock, ids, seal })

  /** Settings from the account's or the platform's connection, an enabled one if there is one. */
  async function settingsOf(accountId: AccountId) {
    const all = await rooms.connections.forAccount(accountId)
    const connections = all.filter(each => each.provider === WHATSAPP_WEB)
    const connection = connections.find(each => each.enabled) ?? connections[0]
    return {
      enabled: connection?.enabled ?? false,
      config: withWebDefaults(connection?.config ?? {}),
      retryPolicy: connection?.retryPolicy ?? supplier.policy.retryPolicy,
      revision: connection ? `${connection.id} ${connection.revision}` : '',
    }
  }

  function specOf({ id, accountId }: SessionRow, retryPolicy: LinkSpec['retryPolicy']): LinkSpec {
    return {
      id,
      accountId,
      provider: WHATSAPP_WEB,
      channels: supplier.channels,
      enabled: true,
      revision: 1,
      retryPolicy,
    }
  }

  const keeper = createSessionKeeper({
    db,
    log,
    node: lease.id,
    canHold: isBaileysInstalled,
    async settingsOf(row) {
      const settings = await settingsOf(row.accountId)
      return settings.enabled ? settings : null
    },
    markResting: hold =>
      sessionStates.recordState(hold, { state: 'closed', detail: DISABLED_DETAIL, reconnects: true }),
    open: (row, hold, { config, retryPolicy, revision }) =>
      holdSession(row, hold, revision, {
        clock,
        log,
        sessionStates,
        stopping,
        keysOf: (of, mayRetry) => createHeldKeys({ db, clock, seal, mayRetry }, of),
        openLink: io => openWebSession(config, io),
        io: () => ioOf(specOf(row, retryPolicy)),
        attach: link => links.attach({ ...specOf(row, retryPolicy), link, supplier, state: upState }),
        async sentText(messageId) {
          const message = isId('msg', messageId) ? await readMessage(db, row.accountId, messageId) : null
          const text = message?.connectionId === row.id ? message.content?.text : null
          return message && text ? { to: message.recipient, text } : null
        },
      }),
  })

  return {
    keeper,
    webSessions: createWebSessions({
      db,
      clock,
      ids,
      phones,
      seal,
      carriedBy: async ({ account, mode }) =>
        carriedBy('user_chatapp_session', {
          mode,
          connections: await rooms.connections.forAccount(account.id),
          sandboxForLive: config.sandbox,
        }),
      unavailableReason: () => (isBaileysInstalled() ? null : NOT_INSTALLED),
      paceOf: async (accountId, pairedAtMs) =>
        paceOf((await settingsOf(accountId)).config, pairedAtMs, clock.now()),
      async loadQrRenderer() {
        const { renderSVG } = await import('uqr')
        return text => renderSVG(text)
      },
      changed: accountId => changes.publish('web_sessions', accountId),
    }),
  }
}

const DISABLED_DETAIL = 'the operator has disabled or removed the connection for web sessions'
const upState = () => ({ state: 'up', detail: '' }) as const

/** How often sessions are looked for without a notification; in ms. */
const POLL_EVERY_MS = 2_000

/** Starts to claim and hold sessions; `stop` closes them, and leaves them to other nodes. */
export function startSessions(
  { clock, log, changes }: Foundation,
  { keeper }: SessionRooms,
): { stop(): Promise<void> } {
  const loop = startLoop({
    clock,
    everyMs: POLL_EVERY_MS,
    round: async () => void (await keeper.round()),
    onError: error =>
      log.debug({ err: error }, 'checking for web sessions to claim failed; it is tried again'),
  })
  const unsubscribe = changes.subscribe({
    changed(table) {
      if (table === 'web_sessions' || table === 'connections') loop.wake()
    },
    reset: loop.wake,
  })
  return {
    async stop() {
      unsubscribe()
      await loop.stop()
      await keeper.stop()
    },
  }
}
