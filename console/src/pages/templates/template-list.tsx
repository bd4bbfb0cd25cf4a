import { Badge, Button, Tooltip } from '@mantine/core'
import { LayoutTemplate, Plus, Star } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { TEMPLATE_STATUSES, type TemplateView } from '../../../../sdk/index.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { EmptyList } from '../../parts/empty-list.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { NameCell } from '../../parts/name-cell.tsx'
import { Page } from '../../parts/page.tsx'
import { humanize, StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/context.tsx'
import { KINDS, kindName, SUB_TYPES, subTypeName } from './kinds.ts'
import { TemplateMenu } from './template-menu.tsx'
import { useTemplates } from './use-templates.ts'

const STATUSES = TEMPLATE_STATUSES.map(value => ({
  value,
  label: humanize(value),
}))
const NAMES = ['search', 'kind', 'status', 'subType'] as const

export function TemplateList() {
  const [, go] = useLocation()
  const [filters, setFilters, clear] = useFilters(NAMES)
  const templates = useTemplates(filters)
  const { can } = useSession()
  const mayWrite = can('messages:create')
  return (
    <Page
      title="Templates"
      lead="Texts for your messages, with numbered variables for the parts that change."
      actions={
        mayWrite && (
          <Button component={Link} href="/templates/new" leftSection={<Plus size={16} />}>
            New template
          </Button>
        )
      }
    >
      <FilterBar onClear={clear}>
        <TextFilter label="Name or text" value={filters.search} onChange={search => setFilters({ search })} />
        <ChoiceFilter
          label="Kind"
          value={filters.kind}
          options={KINDS}
          onChange={kind => setFilters({ kind })}
        />
        <ChoiceFilter
          label="Status"
          value={filters.status}
          options={STATUSES}
          onChange={status => setFilters({ status })}
          width={140}
        />
        <ChoiceFilter
          label="Type"
          value={filters.subType}
          options={SUB_TYPES}
          onChange={subType => setFilters({ subType })}
          width={130}
        />
      </FilterBar>
      <DataList
        label="Templates"
        read={templates}
        columns={COLUMNS}
        rowKey={template => template.id}
        onOpen={template => go(`/templates/${template.id}`)}
        empty={
          <EmptyList
            icon={LayoutTemplate}
            clear={templates.all > 0 ? clear : null}
            noMatch={{
              title: 'No template matches these filters',
              text: 'The search covers names, subjects and texts.',
            }}
            title="No templates yet"
            text="Write one for SMS or e-mail and use it at once, or submit one to WhatsApp for approval."
            action={
              mayWrite && (
                <Button component={Link} href="/templates/new">
                  New template
                </Button>
              )
            }
          />
        }
      />
    </Page>
  )
}

const COLUMNS: readonly Column<TemplateView>[] = [
  {
    title: 'Name',
    width: 'minmax(120px, 2.6fr)',
    render: ({ name, isDefault, isPlatformTemplate }) => (
      <NameCell
        name={name}
        badge={
          (isDefault || isPlatformTemplate) && (
            <>
              {isDefault && (
                <Star
                  size={13}
                  fill="currentColor"
                  color="var(--mantine-color-brass-5)"
                  role="img"
                  aria-label="The default of its kind and type"
                  style={{ flex: 'none' }}
                />
              )}
              {isPlatformTemplate && (
                <Badge size="xs" variant="default" style={{ flex: 'none' }}>
                  platform
                </Badge>
              )}
            </>
          )
        }
      />
    ),
  },
  {
    title: 'Text',
    width: 'minmax(140px, 2.2fr)',
    wideOnly: true,
    render: template => <bdi>{summaryOf(template)}</bdi>,
  },
  { title: 'Kind', width: '138px', wideOnly: true, render: kindName },
  { title: 'Type', width: '76px', wideOnly: true, render: ({ subType }) => subTypeName(subType) },
  { title: 'Language', width: '70px', wideOnly: true, render: ({ language }) => language ?? '–' },
  {
    title: 'Status',
    width: '110px',
    render: ({ status, statusReason }) => (
      <Tooltip label={statusReason} disabled={statusReason === null} multiline maw={320}>
        <span>
          <StatusBadge status={status} />
        </span>
      </Tooltip>
    ),
  },
  {
    title: 'Created',
    width: '100px',
    align: 'end',
    wideOnly: true,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    title: 'Actions',
    hidesTitle: true,
    width: '36px',
    align: 'end',
    render: template => <TemplateMenu template={template} />,
  },
]

function summaryOf({ emailSubject, body, content, otpType }: TemplateView): string {
  const words = emailSubject ?? body ?? content
  if (words !== null) return words
  return otpType === null ? 'Its text is stored at the provider' : 'WhatsApp’s standard text for a code'
}
