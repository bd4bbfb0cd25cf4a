import { Text } from '@mantine/core'
import { Contact } from 'lucide-react'
import type { InboundMessageView } from '../../../../sdk/index.ts'
import classes from './conversation.module.css'

/** A contact card that was sent. */
export function ContactCard({ card }: { card: InboundMessageView['contacts'][number] }) {
  const { name, phones, emails } = card
  return (
    <div className={classes.file}>
      <Contact size={15} aria-label="A contact" />
      <div style={{ minWidth: 0 }}>
        {name !== null && (
          <Text size="sm" fw={500}>
            <bdi>{name}</bdi>
          </Text>
        )}
        <Text size="sm" className={classes.addresses}>
          {[...phones, ...emails].join('\n')}
        </Text>
      </div>
    </div>
  )
}
