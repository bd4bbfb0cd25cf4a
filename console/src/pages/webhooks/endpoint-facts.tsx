import { Alert } from '@mantine/core'
import { CircleAlert, KeyRound } from 'lucide-react'
import type { WebhookView } from '../../../../sdk/index.ts'
import { Card } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { formatTime, Time } from '../../parts/time.tsx'
import { ANY } from './event-types.ts'

const WHY = {
  request: 'Somebody disabled the endpoint. Events that happen meanwhile are not stored for it.',
  failing:
    'All deliveries failed for five days. Repair the receiver and enable the endpoint; missed events can be replayed.',
  gone: 'The receiver answered 410 (Gone). Change the address, or enable the endpoint if that was a mistake.',
}

export function EndpointFacts({ webhook }: { webhook: WebhookView }) {
  const { description, events, failingSince, previousSecretValidUntil, disabledReason, enabled, createdAt } =
    webhook
  return (
    <>
      {!enabled && (
        <Alert variant="light" color="red" icon={<CircleAlert size={16} />} title="Disabled" role="alert">
          {WHY[disabledReason ?? 'request']}
        </Alert>
      )}
      {enabled && failingSince !== null && (
        <Alert variant="light" color="brass" icon={<CircleAlert size={16} />} title="Deliveries fail">
          Since {formatTime(failingSince)}. Each event is tried ten times within three days; after five days
          without a success the endpoint is disabled.
        </Alert>
      )}
      {previousSecretValidUntil !== null && (
        <Alert variant="light" color="brass" icon={<KeyRound size={16} />} title="Two secrets are valid">
          The previous one is valid until {formatTime(previousSecretValidUntil)}.
        </Alert>
      )}
      <Card>
        <Facts
          facts={[
            description === ''
              ? null
              : [
                  'Description',
                  <span key="a" className="ph-words">
                    {description}
                  </span>,
                ],
            [
              'Events',
              events.includes(ANY) ? 'Every event, including those of later versions' : events.join(', '),
            ],
            ['Created', <Time key="m" at={createdAt} />],
            [
              'Id',
              <span key="i" className="ph-mono">
                {webhook.id}
              </span>,
            ],
          ]}
        />
      </Card>
    </>
  )
}
