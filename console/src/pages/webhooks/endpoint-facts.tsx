import { Alert } from '@mantine/core'
import { CircleAlert, KeyRound } from 'lucide-react'
import type { WebhookView } from '../../../../sdk/index.ts'
import { Card } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { formatTime, Time } from '../../parts/time.tsx'
import { ANY } from './event-types.ts'

const WHY = {
  request: 'Somebody switched it off. Events meanwhile are not stored for it.',
  failing:
    'Nothing but failures for five days. Mend the receiver and enable it; what it missed can be replayed.',
  gone: 'The receiver answered 410: it is gone. Change the address, or enable it if that was a mistake.',
}

export function EndpointFacts({ webhook }: { webhook: WebhookView }) {
  const {
    description,
    eventTypes,
    failingSince,
    previousSecretValidUntil,
    disabledReason,
    enabled,
    createdAt,
  } = webhook
  return (
    <>
      {!enabled && (
        <Alert variant="light" color="red" icon={<CircleAlert size={16} />} title="Disabled" role="alert">
          {WHY[disabledReason ?? 'request']}
        </Alert>
      )}
      {enabled && failingSince !== null && (
        <Alert variant="light" color="brass" icon={<CircleAlert size={16} />} title="The receiver fails">
          Since {formatTime(failingSince)}. Each event is tried ten times within three days; after five days
          of nothing else the endpoint is disabled.
        </Alert>
      )}
      {previousSecretValidUntil !== null && (
        <Alert variant="light" color="brass" icon={<KeyRound size={16} />} title="Two secrets sign">
          The one before is valid until {formatTime(previousSecretValidUntil)}.
        </Alert>
      )}
      <Card>
        <Facts
          facts={[
            description === ''
              ? null
              : [
                  'About',
                  <span key="a" className="ph-words">
                    {description}
                  </span>,
                ],
            [
              'Listens to',
              eventTypes.includes(ANY)
                ? 'Every event, those of later versions included'
                : eventTypes.join(', '),
            ],
            ['Made', <Time key="m" at={createdAt} />],
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
