import { Grid, Slider, Stack, Text, TextInput } from '@mantine/core'
import { type BulkCreated, PosthornError } from '../../../../sdk/index.ts'
import { type Identity, scopeHeaders } from '../../api/console-fetch.ts'
import { useApiContext } from '../../api/context.tsx'
import { readResponse } from '../../api/read-response.ts'
import { useInvalidate } from '../../api/use-read.ts'
import { ApiForm, useApiForm } from '../../parts/api-form.tsx'
import { Card } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { useSession } from '../../session/context.tsx'
import { useCheck } from './check-rows.tsx'
import { CostSample } from './cost-sample.tsx'
import type { OpenSheet } from './open-sheet.ts'
import { formatDuration } from './pace.ts'
import { BULK } from './path.ts'
import type { Plan } from './plan.ts'
import { removeRequestKey, requestKey } from './request-keys.ts'

type Values = { name: string; messagesPerSecond: number }

/** The last step: name, rate and cost, then the job is created. */
export function RunJob({
  sheet,
  plan,
  onJob,
}: {
  sheet: OpenSheet
  plan: Plan
  onJob: (id: string) => void
}) {
  const { fetch, identity } = useApiContext()
  const { mode } = useSession()
  const invalidate = useInvalidate()
  const { data: checked } = useCheck(sheet, plan)
  const good = checked ? checked.rows - checked.faulty : 0
  const form = useApiForm<Values, BulkCreated>({
    initial: { name: sheet.file.name.replace(/\.[^.]+$/, ''), messagesPerSecond: 10 },
    async send(values) {
      // Of now: a large body takes seconds, in which the person may switch the mode.
      const who = identity()
      const of = jobIdentity(sheet.file, plan, values, `${who.accountId} ${who.mode}`)
      return createJob(fetch, await sheet.body(plan, values), of, who)
    },
    onDone(job) {
      invalidate([BULK])
      onJob(job.id)
    },
  })
  const { messagesPerSecond: rate } = form.fields.values
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Card title="The job">
          <ApiForm
            form={form}
            disabled={good === 0}
            submitLabel={`Send ${good.toLocaleString()} ${good === 1 ? 'message' : 'messages'}${mode === 'test' ? ' to the sandbox' : ''}`}
          >
            <TextInput label="Name" maxLength={200} {...form.fields.getInputProps('name')} />
            <Stack gap={6} mb="lg">
              <Text size="sm" fw={600} id="pace">
                Rate: {rate} a second
              </Text>
              <Slider
                min={1}
                max={10}
                marks={[1, 5, 10].map(value => ({ value, label: String(value) }))}
                thumbProps={{ 'aria-labelledby': 'pace' }}
                label={null}
                {...form.fields.getInputProps('messagesPerSecond')}
              />
            </Stack>
          </ApiForm>
        </Card>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Card title="Estimate">
          <Stack gap="md">
            <Facts
              facts={[
                ['Rows', good.toLocaleString()],
                checked && checked.faulty > 0
                  ? ['Skipped', `${checked.faulty.toLocaleString()} with errors`]
                  : null,
                ['Duration', `At least ${formatDuration(Math.ceil(good / rate))}`],
              ]}
            />
            <CostSample sheet={sheet} plan={plan} />
          </Stack>
        </Card>
      </Grid.Col>
    </Grid>
  )
}

/** The identity of the job. */
function jobIdentity({ name, size, lastModified }: File, plan: Plan, values: Values, who: string): string {
  return JSON.stringify([who, name, size, lastModified, plan, values])
}

/** Sends the body as a Blob: it is never one string in memory. */
async function createJob(
  fetch: (request: Request) => Promise<Response>,
  body: Blob,
  of: string,
  who: Identity,
): Promise<BulkCreated> {
  const url = new URL(BULK, location.origin)
  const request = new Request(url, {
    method: 'POST',
    headers: {
      ...scopeHeaders(who, url.href),
      'Content-Type': 'application/json',
      'Idempotency-Key': requestKey(of),
    },
    body,
  })
  try {
    const job = await readResponse<BulkCreated>(await fetch(request))
    removeRequestKey(of)
    return job
  } catch (error) {
    // The file's content has changed since this key was used.
    if (error instanceof PosthornError && error.code === 'IDEMPOTENCY_CONFLICT') removeRequestKey(of)
    throw error
  }
}
