import { List, Loader, Text } from '@mantine/core'
import type { WebSessionView } from '../../../../sdk/index.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Card } from '../../parts/page.tsx'
import { SvgImage } from '../../parts/qr-code.tsx'
import classes from './pairing.module.css'

/** The QR or pairing code, as it is now: codes are renewed automatically. */
export function Pairing({ session }: { session: WebSessionView }) {
  const { state, qr, pairingCode } = session
  if (state === 'closed' || state === 'logged_out') return null
  return (
    <Card>
      <div className={classes.pairing}>
        <div className={classes.code} aria-live="polite">
          {qr && <SvgImage svg={qr.svg} label="The code to scan with the phone" size={264} />}
          {pairingCode && (
            <div className={classes.letters}>
              <span dir="ltr">{groupedCode(pairingCode.code)}</span>
              <CopyButton text={pairingCode.code} what="the code" />
            </div>
          )}
          {!qr && !pairingCode && <Connecting />}
        </div>
        {pairingCode ? <ByCode /> : <ByScan />}
      </div>
    </Card>
  )
}

function Connecting() {
  return (
    <div className={classes.wait}>
      <Loader size="sm" />
      <Text c="dimmed">Connecting to WhatsApp…</Text>
    </div>
  )
}

function ByScan() {
  return (
    <Steps
      title="Scan this code with the phone"
      steps={[
        'Open WhatsApp on the phone.',
        'Settings, then Linked devices, then Link a device.',
        'Point the phone at the code. It is renewed automatically for about two minutes.',
      ]}
    />
  )
}

function ByCode() {
  return (
    <Steps
      title="Type this code on the phone"
      steps={[
        'WhatsApp shows a notice on the phone: open it. Or: Settings, Linked devices, Link a device.',
        'Choose “Link with phone number instead”.',
        'Type the eight characters.',
      ]}
    />
  )
}

function Steps({ title, steps }: { title: string; steps: readonly string[] }) {
  return (
    <div>
      <Text fw={600} size="lg" mb="sm">
        {title}
      </Text>
      <List type="ordered" spacing="xs" maw={420}>
        {steps.map(step => (
          <List.Item key={step}>{step}</List.Item>
        ))}
      </List>
      <Text size="sm" c="dimmed" mt="md">
        This page continues automatically when the phone is linked.
      </Text>
    </div>
  )
}

/** In two groups of four, as the phone shows it. */
function groupedCode(code: string): string {
  return code.length === 8 ? `${code.slice(0, 4)}-${code.slice(4)}` : code
}
