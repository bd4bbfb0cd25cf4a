import { Button, Stack } from '@mantine/core'
import { LayoutList, Plus, Trash2 } from 'lucide-react'
import { lazy, useState } from 'react'
import { Link } from 'wouter'
import type { TemplateStatus, TemplateView } from '../../../../../sdk/index.ts'
import { useAction, useRead } from '../../../api/use-read.ts'
import { asPagedRead } from '../../../parts/as-paged-read.ts'
import { ConfirmDialog } from '../../../parts/confirm.tsx'
import { CopyId } from '../../../parts/copy-id.tsx'
import { type Column, DataList } from '../../../parts/data-list.tsx'
import { EmptyList } from '../../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar } from '../../../parts/filter-bar.tsx'
import { NameCell } from '../../../parts/name-cell.tsx'
import { Page } from '../../../parts/page.tsx'
import { Facts, SidePanel } from '../../../parts/side-panel.tsx'
import { humanize, StatusBadge } from '../../../parts/status-badge.tsx'
import { Time } from '../../../parts/time.tsx'
import { notifyDone } from '../../../parts/toast.tsx'
import { useFilters } from '../../../parts/use-filters.ts'
import { draftFrom } from '../../templates/draft.ts'
import { DraftPreview } from '../../templates/draft-preview.tsx'
import { kindName, subTypeName } from '../../templates/kinds.ts'
import { PLATFORM_TEMPLATES } from './paths.ts'

const NewTemplate = lazy(() => import('./new-template.tsx'))

const WRITE = (
  <Button component={Link} href="/operator/templates/new" leftSection={<Plus size={16} />}>
    New platform template
  </Button>
)
const STATUSES = (['pending', 'rejected', 'disabled'] as const).map(value => ({
  value,
  label: humanize(value),
}))

/** Templates that every account may use; `/operator/templates/new` writes one. */
export default function PlatformTemplates({ templateId }: { templateId?: string }) {
  return templateId === 'new' ? <NewTemplate /> : <PlatformList />
}

function PlatformList() {
  const [filters, setFilters, clear] = useFilters(['status'])
  const status = filters.status as TemplateStatus | undefined
  const read = useRead(PLATFORM_TEMPLATES, status === undefined ? {} : { query: { status } })
  const [opened, setOpened] = useState<TemplateView | null>(null)
  const [removing, setRemoving] = useState<TemplateView | null>(null)
  const remove = useAction((api, id: string) => api.delete('/api/admin/templates/{id}', { path: { id } }), {
    changes: [PLATFORM_TEMPLATES],
    onDone() {
      setOpened(null)
      notifyDone('The template is deleted.')
    },
  })
  return (
    <Page
      title="Platform templates"
      lead="Templates that every account can use. A default applies to accounts that have not chosen their own."
      actions={WRITE}
    >
      <FilterBar onClear={clear}>
        <ChoiceFilter
          label="Usable"
          value={status}
          options={STATUSES}
          onChange={value => setFilters({ status: value })}
        />
      </FilterBar>
      <DataList
        label="Platform templates"
        read={asPagedRead(read.data?.data, read)}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        opened={opened?.id ?? null}
        empty={
          <EmptyList
            icon={LayoutList}
            clear={clear}
            noMatch={{ title: 'No template has this status' }}
            title="No platform templates yet"
            text="With a default for codes, accounts need no template of their own."
            action={WRITE}
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
            onClick={() => setRemoving(opened)}
          >
            Delete the template
          </Button>
        }
      >
        {opened && <Content template={opened} />}
      </SidePanel>
      <ConfirmDialog
        opened={removing !== null}
        onClose={() => setRemoving(null)}
        title="Delete this template?"
        text="Messages that use it are refused from then on."
        confirmLabel="Delete the template"
        run={() => (removing ? remove.mutateAsync(removing.id) : Promise.resolve())}
      />
    </Page>
  )
}

function Content({ template }: { template: TemplateView }) {
  const { language, statusReason, createdAt, id } = template
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          ['Kind', kindName(template)],
          ['Type', subTypeName(template.subType)],
          language === null ? null : ['Language', language],
          ['Default', template.isDefault ? 'Yes' : 'No'],
          statusReason === null ? null : ['Reason', <bdi key="w">{statusReason}</bdi>],
          ['Created', <Time key="t" at={createdAt} />],
          ['Id', <CopyId key="i" id={id} />],
        ]}
      />
      <DraftPreview draft={draftFrom(template)} from="The platform" />
    </Stack>
  )
}

const COLUMNS: readonly Column<TemplateView>[] = [
  {
    title: 'Name',
    width: 'minmax(112px, 1.4fr)',
    render: ({ name }) => <NameCell name={name} />,
  },
  { title: 'Kind', width: 'minmax(90px, 1fr)', render: kindName },
  {
    title: 'Type',
    width: '90px',
    wideOnly: true,
    render: ({ subType }) => subTypeName(subType),
  },
  { title: 'Default', width: '80px', wideOnly: true, render: ({ isDefault }) => (isDefault ? 'Yes' : '–') },
  { title: 'Status', width: '100px', render: ({ status }) => <StatusBadge status={status} /> },
  {
    title: 'Text',
    width: 'minmax(160px, 2fr)',
    wideOnly: true,
    render: ({ body, content }) => <bdi>{body ?? content}</bdi>,
  },
]
