import { ActionIcon, Button, Menu } from '@mantine/core'
import { Ellipsis, KeyRound, Plus, RotateCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ApiKey } from '../../../../sdk/index.ts'
import { useAction, useReadPages } from '../../api/use-read.ts'
import { ConfirmDialog } from '../../parts/confirm.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyNote } from '../../parts/empty-note.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { MaybeTime } from '../../parts/time.tsx'
import { tellDone } from '../../parts/toast.tsx'
import { useSession } from '../../session/context.tsx'
import { CreateKey } from './create-key.tsx'
import { stateOf } from './key-state.ts'
import { RotateKey } from './rotate-key.tsx'
import { ShowKey } from './show-key.tsx'

const PATH = '/api/v2/api-keys'
const PERMISSION_COUNT = 4
type Open =
  | { what: 'create' }
  | { what: 'rotate' | 'revoke'; key: ApiKey }
  | { what: 'made'; apiKey: string }
  | null

/** Keys of the account: made, changed for a new one, taken back. */
export default function Keys() {
  const { can } = useSession()
  const mayChange = can('api_keys:write')
  const keys = useReadPages(PATH)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const revoke = useAction((api, id: string) => api.delete('/api/v2/api-keys/{id}', { path: { id } }), {
    changes: [PATH],
    onDone: () => tellDone('The key is revoked: it stops working within a second.'),
  })
  const showMade = (apiKey: string) => setOpen({ what: 'made', apiKey })

  return (
    <Page
      title="API keys"
      lead="A key says which account a program acts for, and what it may do. Test keys send to the sandbox alone."
      actions={
        mayChange && (
          <Button leftSection={<Plus size={16} />} onClick={() => setOpen({ what: 'create' })}>
            New key
          </Button>
        )
      }
    >
      <DataList
        label="API keys"
        read={keys}
        rowKey={key => key.id}
        columns={[
          ...COLUMNS,
          {
            title: '',
            width: '40px',
            align: 'end',
            render: key =>
              mayChange &&
              stateOf(key) === 'active' && (
                <KeyMenu
                  apiKey={key}
                  onRotate={() => setOpen({ what: 'rotate', key })}
                  onRevoke={() => setOpen({ what: 'revoke', key })}
                />
              ),
          },
        ]}
        empty={
          <EmptyNote
            icon={KeyRound}
            title="No keys yet"
            text="A program needs one to send. Begin with a test key: it costs nothing."
            action={mayChange && <Button onClick={() => setOpen({ what: 'create' })}>New key</Button>}
          />
        }
      />
      <CreateKey opened={open?.what === 'create'} onClose={close} onMade={showMade} />
      <RotateKey apiKey={open?.what === 'rotate' ? open.key : null} onClose={close} onMade={showMade} />
      <ShowKey apiKey={open?.what === 'made' ? open.apiKey : null} onClose={close} />
      <ConfirmDialog
        opened={open?.what === 'revoke'}
        onClose={close}
        title="Revoke this key?"
        text={
          open?.what === 'revoke' && (
            <>
              Programs that use <b>{open.key.name}</b> are refused within a second. There is no way back; a
              new key is another key.
            </>
          )
        }
        confirmLabel="Revoke the key"
        run={() => (open?.what === 'revoke' ? revoke.mutateAsync(open.key.id) : Promise.resolve())}
      />
    </Page>
  )
}

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    title: 'Name',
    width: 'minmax(140px, 2fr)',
    render: ({ name }) => <NameCell name={name} />,
  },
  {
    title: 'Key',
    width: '150px',
    wideOnly: true,
    render: key => <span className="ph-mono">{key.prefix}…</span>,
  },
  {
    title: 'Mode',
    width: '70px',
    render: key => <StatusBadge status={key.mode} tone={key.mode === 'live' ? 'good' : 'warn'} />,
  },
  {
    title: 'May',
    width: 'minmax(150px, 2fr)',
    wideOnly: true,
    render: key => <span title={key.permissions.join(', ')}>{rightsOf(key)}</span>,
  },
  {
    title: 'Last used',
    width: '110px',
    wideOnly: true,
    render: key => <MaybeTime at={key.lastUsedAt} none="Never" />,
  },
  {
    title: 'Ends',
    width: '110px',
    wideOnly: true,
    render: key => <MaybeTime at={key.expiresAt} none="Never" />,
  },
  { title: 'State', width: '90px', render: key => <StatusBadge status={stateOf(key)} /> },
]

/** In a few words; which scopes exactly is told on looking closer. */
function rightsOf({ role, permissions }: ApiKey): string {
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
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={`What to do with ${apiKey.name}`}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<RotateCw size={15} />} onClick={onRotate}>
          Rotate
        </Menu.Item>
        <Menu.Item leftSection={<Trash2 size={15} />} color="red" onClick={onRevoke}>
          Revoke
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
