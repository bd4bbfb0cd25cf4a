import type { PoolView, QuietHoursView, VerificationSettingsView } from '../../contract/account.ts'
import type { AdminAccount, AdminKey } from '../../contract/admin.ts'
import { isoOrNull, toIso } from '../../lib/clock.ts'
import { timeOf } from '../../lib/ids.ts'
import { fromMicros } from '../../lib/money.ts'
import { nextMonthUtcMs } from '../../lib/months.ts'
import { formatMinute } from '../../lib/quiet-hours.ts'
import type { KeyRow } from './key-store.ts'
import { type AccountRow, type PoolRow, verificationOf } from './store.ts'

export function viewAccount(row: AccountRow, nowMs: number): AdminAccount {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    homeCountry: row.homeCountry,
    currency: row.currency,
    phone: { number: row.phoneNumber, verified: row.phoneVerified },
    quietHours: viewQuietHours(row),
    verification: viewVerification(row),
    plan: {
      name: row.planName,
      status: row.planStatus,
      allowsScheduling: row.allowsScheduling,
      pool: row.pools.map(pool => viewPool(pool, nowMs)),
      bulkCeilingPerSecond: row.bulkCeilingPerSecond,
      rateLimitPerSecond: row.rateLimitPerSecond,
      verificationRateLimitPerSecond: row.verificationRateLimitPerSecond,
    },
    wallet: {
      balance: fromMicros(row.wallet.balance),
      held: fromMicros(row.wallet.held),
      captured: fromMicros(row.wallet.captured),
      credited: fromMicros(row.wallet.credited),
      currency: row.currency,
    },
    createdAt: toIso(timeOf(row.id)),
  }
}

export function viewVerification(row: AccountRow): VerificationSettingsView {
  const { channels, ...rest } = verificationOf(row)
  return { ...rest, channels: [...channels] }
}

export function viewQuietHours({ quietStart, quietEnd }: AccountRow): QuietHoursView | null {
  return quietStart === null || quietEnd === null
    ? null
    : { start: formatMinute(quietStart), end: formatMinute(quietEnd) }
}

/** After its month a pool is shown as reset, although only the next send resets the row. */
export function viewPool(pool: PoolRow, nowMs: number): PoolView {
  const over = pool.resetsAtMs <= nowMs
  return {
    channels: [...pool.channels],
    limit: pool.limit,
    used: over ? 0 : pool.used,
    resetsAt: toIso(over ? nextMonthUtcMs(nowMs) : pool.resetsAtMs),
  }
}

export function viewKey(key: KeyRow): AdminKey {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    mode: key.mode,
    role: key.role,
    permissions: key.permissions,
    createdAt: toIso(timeOf(key.id)),
    createdBy: key.madeBy,
    expiresAt: isoOrNull(key.expiresAtMs),
    revokedAt: isoOrNull(key.revokedAtMs),
    lastUsedAt: isoOrNull(key.lastUsedAtMs),
  }
}
