import { Text } from '@mantine/core'
import { CircleCheck, CircleX } from 'lucide-react'
import type { Estimate, SingleSendBody } from '../../../sdk/index.ts'
import { readFaultOf } from '../api/fault.ts'
import { useEstimate } from '../api/use-estimate.ts'
import { useSession } from '../session/context.tsx'
import type { Mode } from '../session/session.ts'
import { channelName } from './channel-name.ts'
import { formatMoney } from './money.tsx'

/** One line with the estimate of a send: route, parts and price, or why it would be refused. */
export function EstimateLine({ body }: { body: SingleSendBody | null }) {
  const { data, error } = useEstimate(body)
  return (
    <div aria-live="polite" style={{ minHeight: 20 }}>
      {body === null ? null : error ? (
        <Verdict good={false} text={readFaultOf(error).text} />
      ) : data ? (
        <EstimateSummary {...data.data} />
      ) : null}
    </div>
  )
}

function EstimateSummary({ deliverable, reasons, resolved, sms, billing }: Estimate) {
  const { mode } = useSession()
  if (!deliverable) return <Verdict good={false} text={reasons.map(({ message }) => message).join(' ')} />
  const summary = [
    resolved && `${channelName(resolved.channel)} via ${resolved.provider}`,
    sms && `${sms.parts} ${sms.parts === 1 ? 'part' : 'parts'}`,
    billing && `${formatMoney(billing.estimatedCost, billing.currency)} ${payerOf(billing.source, mode)}`,
  ]
  return <Verdict good text={summary.filter(part => part !== null).join(' · ')} />
}

/** What pays: pool or wallet; shown after the price. */
export function payerOf(source: 'pool' | 'wallet', mode: Mode): string {
  return mode === 'test' ? 'in live mode' : `from the ${source}`
}

function Verdict({ good, text }: { good: boolean; text: string }) {
  const Icon = good ? CircleCheck : CircleX
  return (
    <Text size="sm" c={good ? 'dimmed' : 'var(--ph-bad)'} style={{ display: 'flex', gap: 7 }}>
      <Icon
        size={15}
        style={{ flex: 'none', marginTop: 2 }}
        color={good ? 'var(--ph-good)' : 'currentColor'}
        aria-hidden
      />
      {text}
    </Text>
  )
}
