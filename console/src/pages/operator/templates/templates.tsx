import { Button, Stack, Text } from '@mantine/core'
import { LayoutList, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { TemplateStatus, TemplateView } from '../../../../../sdk/index.ts'
import { useAction, useRead } from '../../../api/use-read.ts'
import { ConfirmDialog } from '../../../parts/confirm.tsx'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyNote } from '../../../parts/empty-note.tsx'
import { ChoiceFilter, FilterBar } from '../../../parts/filter-bar.tsx'
import { Page } from '../../../parts/page.tsx'
import { Facts, SidePanel } from '../../../parts/side-panel.tsx'
import { inWords, StatusBadge } from '../../../parts/status-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { tellDone } from '../../../parts/toast.tsx'
import { useFilters } from '../../../parts/use-filters.ts'
import { wholeList } from '../../../parts/whole-list.ts'
import { kindName, subTypeName } from '../../templates/kinds.ts'
import { CreateTemplate } from './create-template.tsx'
import { PLATFORM_TEMPLATES } from './paths.ts'

const STATUSES = (['pending', 'rejected', 'disabled'] as const).map(value => ({
  value,
  label: inWords(value),
}))

/** Templates that every account may use. */
export default function PlatformTemplates() {
  const [filters, setFilters] = useFilters(['status'])
  const status = filters.status as TemplateStatus | undefined
  const read = useRead(PLATFORM_TEMPLATES, status === undefined ? {} : { query: { status } })
  const [making, setMaking] = useState(false)
  const [opened, setOpened] = useState<TemplateView | null>(null)
  const [leaving, setLeaving] = useState<TemplateView | null>(null)
  const remove = useAction((api, id: string) => api.delete('/api/admin/templates/{id}', { path: { id } }), {
    changes: [PLATFORM_TEMPLATES],
    onDone() {
      setOpened(null)
      tellDone('The template is deleted.')
    },
  })
  return (
    <Page
      title="Platform templates"
      lead="Every account may send by them; a default is used where an account has chosen none of its own."
      actions={
        <Button leftSection={<Plus size={16} />} onClick={() => setMaking(true)}>
          New platform template
        </Button>
      }
    >
      <FilterBar onClear={null}>
        <ChoiceFilter
          label="Usable"
          value={status}
          options={STATUSES}
          onChange={value => setFilters({ status: value })}
        />
      </FilterBar>
      <DataList
        label="Platform templates"
        read={wholeList(read.data?.data, read)}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        opened={opened?.id ?? null}
        empty={
          <EmptyNote
            icon={LayoutList}
            title={status === undefined ? 'No platform templates yet' : 'None has this status'}
            text="A default for codes spares every account the first step."
            action={<Button onClick={() => setMaking(true)}>New platform template</Button>}
          />
        }
      />
      <SidePanel
        opened={opened !== null}
        onClose={() => setOpened(null)}
        title={<bdi>{opened?.name}</bdi>}
        aside={opened && <StatusBadge status={opened.status} />}
        foot={
          <Button
            variant="subtle"
            color="red"
            leftSection={<Trash2 size={15} />}
            onClick={() => setLeaving(opened)}
          >
            Delete the template
          </Button>
        }
      >
        {opened && <Content template={opened} />}
      </SidePanel>
      <CreateTemplate opened={making} onClose={() => setMaking(false)} />
      <ConfirmDialog
        opened={leaving !== null}
        onClose={() => setLeaving(null)}
        title="Delete this template?"
        text="Accounts that send by it are refused from then on."
        confirmLabel="Delete the template"
        run={() => (leaving ? remove.mutateAsync(leaving.id) : Promise.resolve())}
      />
    </Page>
  )
}

function Content({ template }: { template: TemplateView }) {
  const { language, emailSubject, statusReason, footer, createdAt } = template
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          ['For', kindName(template)],
          ['Type', subTypeName(template.subType)],
          language === null ? null : ['Language', language],
          ['Default', template.isDefault ? 'Yes' : 'No'],
          statusReason === null ? null : ['Why', <bdi key="w">{statusReason}</bdi>],
          emailSubject === null ? null : ['Subject', <bdi key="s">{emailSubject}</bdi>],
          ['Made', <Time key="t" at={createdAt} />],
        ]}
      />
      <Text className="ph-words ph-card" p="md">
        {template.body ?? template.content}
      </Text>
      {footer !== null && (
        <Text size="sm" c="dimmed" className="ph-words">
          {footer}
        </Text>
      )}
    </Stack>
  )
}

const COLUMNS: readonly Column<TemplateView>[] = [
  {
    title: 'Name',
    width: 'minmax(130px, 1.4fr)',
    render: ({ name }) => (
      <Text span fw={500} size="sm" truncate>
        <bdi>{name}</bdi>
      </Text>
    ),
  },
  { title: 'For', width: 'minmax(90px, 1fr)', render: kindName },
  {
    title: 'Type',
    width: '90px',
    wideOnly: true,
    render: ({ subType }) => subTypeName(subType),
  },
  { title: 'Default', width: '80px', wideOnly: true, render: ({ isDefault }) => (isDefault ? 'Yes' : '–') },
  { title: 'Status', width: '100px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Words',
    width: 'minmax(160px, 2fr)',
    wideOnly: true,
    render: ({ body, content }) => <bdi>{body ?? content}</bdi>,
  },
]
