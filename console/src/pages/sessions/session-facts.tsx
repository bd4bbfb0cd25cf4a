import type { WebSessionView } from '../../../../sdk/index.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { Card } from '../../parts/page.tsx'
import { Facts } from '../../parts/side-panel.tsx'
import { formatTime, Time } from '../../parts/time.tsx'

export function SessionFacts({ session }: { session: WebSessionView }) {
  const { phone, pushName, pace, sandbox, pairedAt, openedAt, connectionId } = session
  return (
    <Card>
      <Facts
        facts={[
          phone === null
            ? null
            : [
                'Phone',
                <bdi key="p" className="ph-num">
                  {phone}
                </bdi>,
              ],
          pushName === null ? null : ['Profile name', <bdi key="n">{pushName}</bdi>],
          sandbox
            ? [
                'Sandbox',
                'It needs no phone, and sends no real messages. If a connection for web sessions was added since, restart it to link a phone.',
              ]
            : null,
          ['Rate', formatPace(pace)],
          pairedAt === null ? null : ['Linked', <Time key="l" at={pairedAt} />],
          openedAt === null ? null : ['Open since', <Time key="o" at={openedAt} />],
          ['Connection', <CopyId key="c" id={connectionId} what="the id of the connection" />],
        ]}
      />
    </Card>
  )
}

function formatPace({ messagesPerMinute, fullMessagesPerMinute, warmAt }: WebSessionView['pace']): string {
  const now = `${messagesPerMinute} messages a minute`
  if (warmAt === null || messagesPerMinute >= fullMessagesPerMinute) return now
  return `${now}, growing to ${fullMessagesPerMinute} until ${formatTime(warmAt)}`
}
