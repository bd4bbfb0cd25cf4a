import { Button } from '@mantine/core'
import { SendHorizontal } from 'lucide-react'
import { Link } from 'wouter'
import type { ConversationContext } from '../../../sdk/index.ts'
import { writeLink } from './conversation.ts'

/** A button to write to a person in a row. */
export function WriteTo({ name, conversation }: { name: string; conversation: ConversationContext }) {
  return (
    <Button
      component={Link}
      href={writeLink(conversation)}
      size="compact-sm"
      variant="subtle"
      leftSection={<SendHorizontal size={13} className="ph-flips" />}
      aria-label={`Write to ${name}`}
    >
      Write to
    </Button>
  )
}
