import { accountRead } from '../../src/http/routes/account-read.ts'
import { adminAccountsCreate } from '../../src/http/routes/admin-accounts-create.ts'
import { adminAccountsList } from '../../src/http/routes/admin-accounts-list.ts'
import { adminAccountsRead } from '../../src/http/routes/admin-accounts-read.ts'
import { adminAccountsUpdate } from '../../src/http/routes/admin-accounts-update.ts'
import { adminConnectionsCreate } from '../../src/http/routes/admin-connections-create.ts'
import { adminConnectionsDelete } from '../../src/http/routes/admin-connections-delete.ts'
import { adminConnectionsList } from '../../src/http/routes/admin-connections-list.ts'
import { adminConnectionsTest } from '../../src/http/routes/admin-connections-test.ts'
import { adminConnectionsUpdate } from '../../src/http/routes/admin-connections-update.ts'
import { adminCreditsCreate } from '../../src/http/routes/admin-credits-create.ts'
import { adminKeysCreate } from '../../src/http/routes/admin-keys-create.ts'
import { adminKeysRevoke } from '../../src/http/routes/admin-keys-revoke.ts'
import { adminPricesList } from '../../src/http/routes/admin-prices-list.ts'
import { adminPricesReplace } from '../../src/http/routes/admin-prices-replace.ts'
import { adminSendersApprove } from '../../src/http/routes/admin-senders-approve.ts'
import { adminSendersCreate } from '../../src/http/routes/admin-senders-create.ts'
import { adminSendersList } from '../../src/http/routes/admin-senders-list.ts'
import { adminSendersRead } from '../../src/http/routes/admin-senders-read.ts'
import { adminSendersReject } from '../../src/http/routes/admin-senders-reject.ts'
import { ledgerList } from '../../src/http/routes/ledger-list.ts'
import { walletRead } from '../../src/http/routes/wallet-read.ts'
import type { Database } from '../../src/infra/db.ts'
import { type Answer, type Frame, OPERATOR_TOKEN, startFrame } from '../http/frame/frame.ts'
import { createTestDatabase } from './database.ts'
import { openRooms, type Rooms } from './rooms.ts'

export type Operator = {
  db: Database
  rooms: Rooms
  frame: Frame
  /** As the operator, below `/api/admin`. */
  admin(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  stop(): Promise<void>
}

/** The routes of one node for accounts and the operator, over HTTP and on a real database. */
export async function startOperator(options: Parameters<typeof openRooms>[1] = {}): Promise<Operator> {
  const database = await createTestDatabase()
  const rooms = await openRooms(database.db, options)
  const routes = [
    accountRead,
    walletRead,
    ledgerList,
    adminAccountsCreate,
    adminAccountsList,
    adminAccountsRead,
    adminAccountsUpdate,
    adminKeysCreate,
    adminKeysRevoke,
    adminCreditsCreate,
    adminPricesList,
    adminPricesReplace,
    adminConnectionsList,
    adminConnectionsCreate,
    adminConnectionsUpdate,
    adminConnectionsDelete,
    adminConnectionsTest,
    adminSendersList,
    adminSendersRead,
    adminSendersCreate,
    adminSendersApprove,
    adminSendersReject,
  ].map(make => make(rooms))
  const frame = await startFrame({ routes, keys: rooms.keys, clock: rooms.clock })
  return {
    db: database.db,
    rooms,
    frame,
    admin: (method, path, body, headers) =>
      frame.call(method, `/api/admin${path}`, {
        key: null,
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, ...headers },
        ...(body === undefined ? {} : { body }),
      }),
    async stop() {
      await frame.close()
      await rooms.stop()
      await database.drop()
    },
  }
}
