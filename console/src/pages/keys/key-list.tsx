import { Button, Menu } from '@mantine/core'
import { KeyRound, Plus, RotateCw, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { ApiKey } from '../../../../sdk/index.ts'
import { type PagedRead, useInvalidate } from '../../api/use-read.ts'
import { ActionMenu } from '../../parts/action-menu.tsx'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { notifyDone } from '../../parts/toast.tsx'
import { useShowOnce } from '../../parts/use-show-once.tsx'
import { CreateKey, type KeyDraft } from './create-key.tsx'
import { stateOf } from './key-state.ts'
import { RotateKey } from './rotate-key.tsx'
import { ShowKey } from './show-key.tsx'

const PERMISSION_COUNT = 4

/** The actions on keys, of this or another account; `create` and `rotate` return the key itself. */
export type KeyActions = {
  create(draft: KeyDraft): Promise<string>
  rotate(id: string, overlapSeconds: number): Promise<string>
  revoke(id: string): Promise<unknown>
  /** Paths that are outdated after a change. */
  changes: readonly string[]
}

type Open =
  | { what: 'create' }
  | { what: 'rotate' | 'revoke'; key: ApiKey }
  | { what: 'made'; apiKey: string }
  | null

/**
 * A list of keys that can be created, rotated and revoked; read-only without `actions`. `children` gets the
 * create button and the list.
 */
export function KeyList({
  read,
  actions,
  mayCreateOwners,
  height,
  children,
}: {
  read: PagedRead<ApiKey>
  actions: KeyActions | null
  mayCreateOwners: boolean
  height?: string
  children: (make: ReactNode, list: ReactNode) => ReactNode
}) {
  const [open, setOpen] = useState<Open>(null)
  const make = actions && (
    <Button leftSection={<Plus size={16} />} onClick={() => setOpen({ what: 'create' })}>
      New key
    </Button>
  )
  const menu: Column<ApiKey> = {
    title: 'Actions',
    hidesTitle: true,
    width: '36px',
    align: 'end',
    render: key =>
      actions &&
      stateOf(key) === 'active' && (
        <KeyMenu
          apiKey={key}
          onRotate={() => setOpen({ what: 'rotate', key })}
          onRevoke={() => setOpen({ what: 'revoke', key })}
        />
      ),
  }
  return (
    <>
      {children(
        make,
        <DataList
          label="API keys"
          read={read}
          rowKey={key => key.id}
          columns={[...COLUMNS, menu]}
          {...(height !== undefined && { height })}
          empty={
            <EmptyNote
              icon={KeyRound}
              title="No keys yet"
              text="A program needs one to send. Start with a test key: it is free."
              action={make}
            />
          }
        />,
      )}
      {actions && (
        <KeyDialogs open={open} setOpen={setOpen} actions={actions} mayCreateOwners={mayCreateOwners} />
      )}
    </>
  )
}

function KeyDialogs({
  open,
  setOpen,
  actions,
  mayCreateOwners,
}: {
  open: Open
  setOpen: (open: Open) => void
  actions: KeyActions
  mayCreateOwners: boolean
}) {
  const invalidate = useInvalidate()
  const close = () => setOpen(null)
  const showOnce = useShowOnce()

  function show(apiKey: string): void {
    invalidate(actions.changes)
    showOnce('Your new key', apiKey, () => setOpen({ what: 'made', apiKey }))
  }

  async function revoke(id: string): Promise<void> {
    await actions.revoke(id)
    invalidate(actions.changes)
    notifyDone('The key is revoked and stops working within a second.')
  }

  return (
    <>
      <CreateKey
        opened={open?.what === 'create'}
        onClose={close}
        create={actions.create}
        mayCreateOwners={mayCreateOwners}
        onMade={show}
      />
      <RotateKey
        apiKey={open?.what === 'rotate' ? open.key : null}
        onClose={close}
        rotate={actions.rotate}
        onMade={show}
      />
      <ShowKey apiKey={open?.what === 'made' ? open.apiKey : null} onClose={close} />
      <ConfirmDialog
        opened={open?.what === 'revoke'}
        onClose={close}
        title="Revoke this key?"
        text={
          open?.what === 'revoke' && (
            <>
              Programs that use{' '}
              <b>
                <bdi>{open.key.name}</bdi>
              </b>{' '}
              are refused within a second. This cannot be undone.
            </>
          )
        }
        confirmLabel="Revoke the key"
        run={() => (open?.what === 'revoke' ? revoke(open.key.id) : Promise.resolve())}
      />
    </>
  )
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    title: 'Name',
    width: 'minmax(110px, 2fr)',
    render: ({ name }) => <NameCell name={name} />,
  },
  {
    title: 'Key',
    width: '112px',
    wideOnly: true,
    render: key => <span className="ph-mono">{key.prefix}…</span>,
  },
  {
    title: 'Mode',
    width: '64px',
    render: key => <StatusBadge status={key.mode} tone={key.mode === 'live' ? 'good' : 'warn'} />,
  },
  {
    title: 'Permissions',
    width: 'minmax(120px, 2fr)',
    wideOnly: true,
    render: key => <span title={key.permissions.join(', ')}>{permissionsLabel(key)}</span>,
  },
  {
    title: 'Created by',
    width: 'minmax(90px, 1fr)',
    wideOnly: true,
    render: ({ createdBy }) => <bdi>{createdBy?.name ?? '–'}</bdi>,
  },
  {
    title: 'Last used',
    width: '92px',
    wideOnly: true,
    render: key => <MaybeTime at={key.lastUsedAt} none="Never" />,
  },
  {
    title: 'Expires',
    width: '84px',
    wideOnly: true,
    render: key => <MaybeTime at={key.expiresAt} none="Never" />,
  },
  { title: 'State', width: '84px', render: key => <StatusBadge status={stateOf(key)} /> },
]

/** A short summary; the details show the scopes. */
function permissionsLabel({ role, permissions }: ApiKey): string {
  const words = permissions.length === PERMISSION_COUNT ? ['everything'] : permissions
  return [...(role === 'owner' ? ['as owner'] : []), ...words].join(', ')
}

function KeyMenu({
  apiKey,
  onRotate,
  onRevoke,
}: {
  apiKey: ApiKey
  onRotate: () => void
  onRevoke: () => void
}) {
  return (
    <ActionMenu label={`Actions for ${apiKey.name}`}>
      <Menu.Item leftSection={<RotateCw size={15} />} onClick={onRotate}>
        Rotate
      </Menu.Item>
      <Menu.Item leftSection={<Trash2 size={15} />} color="var(--ph-bad)" onClick={onRevoke}>
        Revoke
      </Menu.Item>
    </ActionMenu>
  )
}
