import { Skeleton, Stack, Text } from '@mantine/core'
import { CircleCheck, CircleX } from 'lucide-react'
import type { Estimate as EstimateData } from '../../../../sdk/index.ts'
import { readFaultOf } from '../../api/fault.ts'
import { useEstimate } from '../../api/use-estimate.ts'
import { channelName } from '../../parts/channel-name.ts'
import { payerOf } from '../../parts/estimate-line.tsx'
import { Money } from '../../parts/money.tsx'
import { Card } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { humanize } from '../../parts/status-badge.tsx'
import { formatTime } from '../../parts/time.tsx'
import { useSession } from '../../session/context.tsx'
import { type Draft, toBody } from './draft.ts'

/** The API's estimate of this send. */
export function Estimate({ draft }: { draft: Draft }) {
  const body = toBody(draft)
  const estimate = useEstimate(body.to === '' ? null : body)
  return (
    <Card title="Estimate">
      <div aria-live="polite">
        {body.to === '' ? (
          <Text c="dimmed">Enter a recipient: the route, the parts and the price appear here.</Text>
        ) : estimate.error ? (
          <Text c="var(--ph-bad)">{readFaultOf(estimate.error).text}</Text>
        ) : estimate.data ? (
          <EstimateResult estimate={estimate.data.data} />
        ) : (
          <Skeleton h={120} />
        )}
      </div>
    </Card>
  )
}

function EstimateResult({ estimate }: { estimate: EstimateData }) {
  const { mode } = useSession()
  const { deliverable, reasons, resolved, rendered, sms, billing, scheduledAt } = estimate
  return (
    <Stack gap="md">
      <Text
        fw={600}
        c={deliverable ? 'var(--ph-good)' : 'var(--ph-bad)'}
        style={{ display: 'flex', alignItems: 'center', gap: 8 }}
      >
        {deliverable ? <CircleCheck size={17} aria-hidden /> : <CircleX size={17} aria-hidden />}
        {deliverable ? 'It can be sent' : 'It cannot be sent'}
      </Text>
      {reasons.map(reason => (
        <Text key={`${reason.code} ${reason.path}`} size="sm">
          {reason.path !== '' && <span className="ph-mono">{reason.path} </span>}
          {reason.message}
        </Text>
      ))}
      <Facts
        facts={[
          resolved && ['Channel', channelName(resolved.channel)],
          resolved && ['Provider', resolved.provider],
          resolved && ['Sender', humanize(resolved.senderSource)],
          sms && [
            'Parts',
            <span key="parts" className="ph-num">
              {sms.parts} ({sms.characters} characters of {sms.encoding})
            </span>,
          ],
          billing && [
            'Price',
            <span key="price">
              <Money amount={billing.estimatedCost} currency={billing.currency} />{' '}
              <Text span c="dimmed" size="sm">
                {payerOf(billing.source, mode)}
              </Text>
            </span>,
          ],
          scheduledAt ? ['Sent at', formatTime(scheduledAt)] : null,
        ]}
      />
      {rendered && (
        <div>
          {rendered.subject !== null && (
            <Text fw={600} className="ph-words">
              {rendered.subject}
            </Text>
          )}
          <div
            className="ph-words"
            style={{
              padding: '10px 14px',
              borderRadius: '14px 14px 14px 4px',
              background: 'var(--ph-chosen)',
              width: 'fit-content',
              maxWidth: '100%',
            }}
          >
            {rendered.text}
          </div>
        </div>
      )}
    </Stack>
  )
}
