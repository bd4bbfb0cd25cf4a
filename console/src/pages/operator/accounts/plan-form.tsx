import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import type { AdminAccount, Channel } from '../../../../../sdk/index.ts'
import { useApi } from '../../../api/context.tsx'
import { useInvalidate } from '../../../api/use-read.ts'
import { ApiForm, type ApiForm as FormState, useApiForm } from '../../../parts/api-form.tsx'
import { CHANNELS, channelName } from '../../../parts/channel-name.ts'
import { notifyDone } from '../../../parts/toast.tsx'
import { ACCOUNTS } from './paths.ts'

type Rate = 'bulkCeilingPerSecond' | 'rateLimitPerSecond' | 'verificationRateLimitPerSecond'
type Values = Omit<AdminAccount['plan'], 'pool'> & { pool: { channels: Channel[]; limit: number }[] }

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Inactive' },
]
const RATES: readonly (readonly [Rate, string, string])[] = [
  ['rateLimitPerSecond', 'Requests', 'Per second, at most'],
  ['bulkCeilingPerSecond', 'Bulk messages', 'Per second, at most'],
  ['verificationRateLimitPerSecond', 'Verifications', 'Requests per second, at most'],
]

function valuesOf(plan: AdminAccount['plan']): Values {
  return { ...plan, pool: plan.pool.map(({ channels, limit }) => ({ channels: [...channels], limit })) }
}

/** What the account may do, how fast, and how much of it is included. */
export function PlanForm({ account }: { account: AdminAccount }) {
  const api = useApi()
  const invalidate = useInvalidate()
  const { id, plan } = account
  const form = useApiForm<Values, unknown>({
    initial: valuesOf(plan),
    async send(_, edited) {
      const path = { id }
      if (edited.name === undefined)
        return api.patch('/api/admin/accounts/{id}', { path, body: { plan: edited } })
      // The name of another plan would bring that plan's limits along: the others are sent as they are now.
      const { data } = await api.get('/api/admin/accounts/{id}', { path })
      return api.patch('/api/admin/accounts/{id}', {
        path,
        body: { plan: { ...valuesOf(data.plan), ...edited } },
      })
    },
    fieldOf: path => path.replace(/^plan\./, '').replace(/(\.channels)\[\d+\]$/, '$1'),
    onDone() {
      invalidate([ACCOUNTS])
      notifyDone('The plan applies from the next message.')
    },
  })
  const { getInputProps } = form.fields
  return (
    <ApiForm form={form} submitLabel="Save the plan">
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput label="Plan" autoComplete="off" {...getInputProps('name')} />
        <Select
          label="State of the plan"
          data={STATUSES}
          allowDeselect={false}
          {...getInputProps('status')}
        />
        <Checkbox
          label="May schedule messages"
          mt={{ base: 0, sm: 30 }}
          {...getInputProps('allowsScheduling', { type: 'checkbox' })}
        />
        {RATES.map(([name, label, description]) => (
          <NumberInput
            key={name}
            label={label}
            description={description}
            min={1}
            allowDecimal={false}
            thousandSeparator=","
            {...getInputProps(name)}
          />
        ))}
      </SimpleGrid>
      <Pool form={form} />
    </ApiForm>
  )
}

function Pool({ form }: { form: FormState<Values> }) {
  const { values, getInputProps, insertListItem, removeListItem } = form.fields
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        Included each month
      </Text>
      {values.pool.length === 0 && (
        <Text size="sm" c="dimmed">
          None: every message is paid from the wallet.
        </Text>
      )}
      {values.pool.map((_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows have nothing else
        <Group key={at} align="flex-start" gap="sm" wrap="nowrap">
          <MultiSelect
            aria-label={`Channels of pool ${at + 1}`}
            placeholder="Channels"
            flex={1}
            miw={0}
            data={CHANNELS.map(value => ({ value, label: channelName(value) }))}
            {...getInputProps(`pool.${at}.channels`)}
          />
          <NumberInput
            aria-label={`Messages of pool ${at + 1}`}
            w={130}
            min={0}
            allowDecimal={false}
            thousandSeparator=","
            {...getInputProps(`pool.${at}.limit`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={4}
            aria-label={`Remove pool ${at + 1}`}
            onClick={() => removeListItem('pool', at)}
          >
            <Trash2 size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => insertListItem('pool', { channels: ['local_sms'], limit: 1000 })}
        >
          Add included messages
        </Button>
      </Group>
    </Stack>
  )
}
