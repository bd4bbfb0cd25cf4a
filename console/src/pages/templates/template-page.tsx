import { Alert, Anchor, Badge, Button, Grid, Skeleton, Stack } from '@mantine/core'
import { CircleAlert, CopyPlus, Hourglass } from 'lucide-react'
import { Link } from 'wouter'
import type { TemplateView } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { ReadFault } from '../../parts/fault-note.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { MaybeTime, Time } from '../../parts/time.tsx'
import { useGo } from '../../parts/use-go.ts'
import { useSession } from '../../session/context.tsx'
import { draftFrom } from './draft.ts'
import { DraftPreview } from './draft-preview.tsx'
import { kindName, subTypeName } from './kinds.ts'
import { SavedPreview } from './saved-preview.tsx'
import { TemplateMenu } from './template-menu.tsx'
import { TestSend } from './test-send.tsx'

/** A waiting template may be decided at any time. */
const WAITING_EVERY_MS = 1_000
const POLL_EVERY_MS = 15_000

const BACK = (
  <Anchor component={Link} href="/templates" size="sm">
    All templates
  </Anchor>
)

/** One template: its status, a preview, and a test send. */
export default function TemplatePage({ templateId }: { templateId: string }) {
  const go = useGo()
  const { can } = useSession()
  const read = useRead(
    '/api/v2/templates/{id}',
    { path: { id: templateId } },
    {
      inBothModes: true,
      everyMs: last => (last?.data.status === 'pending' ? WAITING_EVERY_MS : POLL_EVERY_MS),
    },
  )
  const template = read.data?.data
  if (!template) {
    return (
      <Page title="Template" lead={BACK}>
        {read.error ? <ReadFault error={read.error} retry={read.refetch} /> : <Skeleton h={420} />}
      </Page>
    )
  }
  const mayWrite = can('messages:create')
  const usable = template.status === 'active' || template.status === 'approved'
  return (
    <Page
      title={template.name}
      lead={BACK}
      actions={
        <>
          <StatusBadge status={template.status} />
          {mayWrite && (
            <Button
              component={Link}
              href={`/templates/new?from=${template.id}`}
              variant="default"
              leftSection={<CopyPlus size={15} />}
            >
              Duplicate
            </Button>
          )}
          <TemplateMenu template={template} onDeleted={() => go('/templates')} />
        </>
      }
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="lg">
            <StatusNotice template={template} />
            <Card title="Details">
              <About template={template} />
            </Card>
            {usable && mayWrite && <TestSend key={template.id} template={template} />}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          {mayWrite ? (
            <SavedPreview template={template} />
          ) : (
            <DraftPreview draft={draftFrom(template)} from={template.officialSender?.displayName ?? ''} />
          )}
        </Grid.Col>
      </Grid>
    </Page>
  )
}

/** Why it cannot be used, and what to do. */
function StatusNotice({
  template: { status, statusReason, lastCheckedAt, id, provider },
}: {
  template: TemplateView
}) {
  if (status === 'pending') {
    return (
      <Alert variant="light" color="brass" icon={<Hourglass size={16} />} title="Waiting for the provider">
        The provider is asked regularly, and this page shows its decision. Last asked:{' '}
        <MaybeTime at={lastCheckedAt} none="not yet" />.
      </Alert>
    )
  }
  if (status === 'rejected' || (status === 'disabled' && provider === 'official_provider')) {
    return (
      <Alert
        variant="light"
        color="red"
        icon={<CircleAlert size={16} />}
        title={status === 'rejected' ? 'The provider rejected it' : 'The provider disabled it'}
        role="alert"
      >
        <span className="ph-words">{statusReason ?? 'No reason was given.'}</span>{' '}
        <Anchor component={Link} href={`/templates/new?from=${id}`} size="sm" c="inherit" underline="always">
          Write a new one from it
        </Anchor>
        .
      </Alert>
    )
  }
  if (status === 'disabled') {
    return (
      <Alert variant="light" color="gray" icon={<CircleAlert size={16} />} title="Disabled">
        Messages that use it are refused until somebody enables it again.
      </Alert>
    )
  }
  return null
}

function About({ template }: { template: TemplateView }) {
  const { officialSender: sender } = template
  return (
    <Facts
      facts={[
        ['Kind', kindName(template)],
        ['Type', subTypeName(template.subType)],
        [
          'Default',
          template.isDefault ? (
            <Badge key="d" size="sm" variant="light">
              for its kind and type
            </Badge>
          ) : (
            'No'
          ),
        ],
        template.language === null ? null : ['Language', template.language],
        sender && ['Sender', <bdi key="s">{sender.label ?? sender.displayName}</bdi>],
        template.providerTemplateId === null
          ? null
          : [
              'Provider’s id',
              <span key="p" className="ph-mono">
                {template.providerTemplateId}
              </span>,
            ],
        template.isPlatformTemplate ? ['Created by', 'The platform, for every account'] : null,
        ['Created', <Time key="t" at={template.createdAt} />],
        ['Id', <CopyId key="id" id={template.id} what="the template’s id" />],
      ]}
    />
  )
}
