import { Checkbox, Grid, SegmentedControl, Select, Stack, Table, Text, Textarea } from '@mantine/core'
import type { TemplateView } from '../../../../sdk/index.ts'
import { useRead } from '../../api/use-read.ts'
import { CHANNELS, channelName } from '../../parts/channel-name.ts'
import { Card } from '../../parts/page.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import type { OpenSheet } from './open-sheet.ts'
import { buttonTarget, type Plan, placeholderIn, supportsSender, type Target } from './plan.ts'

type Props = { sheet: OpenSheet; plan: Plan; onPlan: (plan: Plan) => void }

const TYPES = [
  { value: 'utility', label: 'Utility' },
  { value: 'marketing', label: 'Marketing' },
  { value: 'free_text', label: 'Free text' },
]
const CATEGORY_OF: Partial<Record<string, TemplateView['category']>> = {
  local_sms: 'sms',
  int_sms: 'sms',
  official_chatapp: 'chatapp',
  email_user: 'email',
}

const NOT_USED = 'none'

/** The meaning of each column, and the settings that apply to all rows. */
export function MapColumns({ sheet, plan, onPlan }: Props) {
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Card
          title={`${sheet.rows.toLocaleString()} ${sheet.rows === 1 ? 'row' : 'rows'} in ${sheet.file.name}`}
          flush
        >
          <Columns sheet={sheet} plan={plan} onPlan={onPlan} />
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Card title="Settings for every row">
          <SharedSettings plan={plan} onPlan={onPlan} />
        </Card>
      </Grid.Col>
    </Grid>
  )
}

function Columns({ sheet, plan, onPlan }: Props) {
  const places = Array.from({ length: plan.template?.places ?? 0 }, (_, at) => at + 1)
  // An option of its own: a clear button would leave no room on a phone.
  const options = [
    { value: NOT_USED, label: 'Not used' },
    { value: 'to', label: 'Recipient' },
    ...(plan.template === null
      ? [
          { value: 'text', label: 'Text' },
          { value: 'subject', label: 'Subject' },
        ]
      : [
          ...places.map(place => ({ value: String(place), label: `Variable {{${place}}}` })),
          ...plan.template.buttons.map(button => ({
            value: String(buttonTarget(button)),
            label: `URL of button ${button.index + 1}`,
          })),
        ]),
  ]

  /** Each target has at most one column: choosing it removes it from the other one. */
  function choose(at: number, value: string | null): void {
    const target: Target =
      value === null || value === NOT_USED ? null : /^\d+$/.test(value) ? Number(value) : (value as Target)
    onPlan({
      ...plan,
      columns: plan.columns.map((known, column) =>
        column === at ? target : known === target ? null : known,
      ),
    })
  }

  return (
    <WideTable label="Columns" minWidth={330}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Column</Table.Th>
          <Table.Th>Example values</Table.Th>
          <Table.Th>Used as</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {sheet.names.map((name, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns are known by their place; two may have one name
          <Table.Tr key={at}>
            <Table.Td fw={550}>
              <bdi>{name}</bdi>
            </Table.Td>
            <Table.Td w="100%" maw={0}>
              {sheet.first.slice(0, 2).map((row, line) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the first two rows
                <div key={line} className="ph-truncate" style={{ color: 'var(--ph-quiet)' }}>
                  <bdi>{row[at] || '–'}</bdi>
                </div>
              ))}
            </Table.Td>
            <Table.Td>
              <Select
                aria-label={`Use of ${name}`}
                size="xs"
                w={128}
                allowDeselect={false}
                data={options}
                value={String(plan.columns[at] ?? NOT_USED)}
                onChange={value => choose(at, value)}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  )
}

function SharedSettings({ plan, onPlan }: Omit<Props, 'sheet'>) {
  const templates = useRead('/api/v2/templates')
  const category = CATEGORY_OF[plan.channel]
  const fitting = (templates.data?.data ?? []).filter(
    template => category === undefined || template.category === category,
  )

  function chooseTemplate(id: string | null, channel = plan.channel): void {
    const chosen = fitting.find(template => template.id === id)
    onPlan({
      ...plan,
      channel,
      template: chosen
        ? {
            id: chosen.id,
            places: chosen.indexedPlaceholders.length,
            buttons: chosen.urlButtonVariables.map(({ index, subType }) => ({ index, subType })),
          }
        : null,
      // Text columns and template variables exclude each other.
      columns: plan.columns.map(target =>
        target === 'to' || (!chosen && (target === 'text' || target === 'subject')) ? target : null,
      ),
    })
  }

  return (
    <Stack>
      <Select
        label="Channel"
        allowDeselect={false}
        data={[
          { value: 'auto', label: 'Automatic, by recipient' },
          ...CHANNELS.map(value => ({ value, label: channelName(value) })),
        ]}
        value={plan.channel}
        onChange={channel => chooseTemplate(null, channel as Plan['channel'])}
      />
      <SenderSelect plan={plan} onPlan={onPlan} />
      <Select
        label="Template"
        placeholder="None: use texts instead"
        clearable
        searchable
        nothingFoundMessage="No matching template"
        data={fitting.map(({ id, name, language }) => ({
          value: id,
          label: language === null ? name : `${name} (${language})`,
        }))}
        value={plan.template?.id ?? null}
        onChange={id => chooseTemplate(id)}
      />
      {plan.template === null && (
        <>
          <Textarea
            label="Text"
            description={
              plan.columns.includes('text')
                ? 'Used where the column is empty'
                : 'The same for every row; or choose a column with texts'
            }
            error={literalWarning(plan.text)}
            autosize
            minRows={3}
            maxRows={12}
            value={plan.text}
            onChange={event => onPlan({ ...plan, text: event.currentTarget.value })}
          />
          <Stack gap={4}>
            <Text size="sm" fw={600} component="span" id="bulk-type">
              Type
            </Text>
            <SegmentedControl
              aria-labelledby="bulk-type"
              data={TYPES}
              value={plan.messageType}
              onChange={messageType => onPlan({ ...plan, messageType: messageType as Plan['messageType'] })}
            />
          </Stack>
        </>
      )}
      <Checkbox
        label="Add a + to numbers without one"
        description="Spreadsheets often remove it"
        checked={plan.addPlus}
        onChange={event => onPlan({ ...plan, addPlus: event.currentTarget.checked })}
      />
    </Stack>
  )
}

/** Texts are sent unchanged: what looks like a variable would reach every recipient. */
function literalWarning(text: string): string | null {
  const placeholder = placeholderIn(text)
  return (
    placeholder && `${placeholder} is sent as it stands. To fill in values of each row, choose a template.`
  )
}

/** The SMS sender of all messages. */
function SenderSelect({ plan, onPlan }: Omit<Props, 'sheet'>) {
  const account = useRead('/api/v2/account')
  const approved = (account.data?.data.smsSenders ?? []).filter(({ status }) => status === 'approved')
  if (!supportsSender(plan) || approved.length === 0) return null
  return (
    <Select
      label="SMS sender"
      placeholder="Default"
      clearable
      data={approved.map(({ id, name }) => ({ value: id, label: name }))}
      value={plan.sender === '' ? null : plan.sender}
      onChange={id => onPlan({ ...plan, sender: id ?? '' })}
    />
  )
}
