import { ActionIcon, Button, CopyButton as Copier, Tooltip } from '@mantine/core'
import { Check, Copy } from 'lucide-react'

/** Copies `text`, and says so. Without a label it is an icon. */
export function CopyButton({
  text,
  label,
  what = 'this',
  small = false,
}: {
  text: string
  label?: string
  /** What is copied, for those who do not see it: "the key". */
  what?: string
  small?: boolean
}) {
  return (
    <Copier value={text} timeout={1_500}>
      {({ copied, copy }) => {
        const icon = copied ? <Check size={small ? 13 : 15} /> : <Copy size={small ? 13 : 15} />
        if (label !== undefined) {
          return (
            <Button size={small ? 'xs' : 'sm'} variant="default" leftSection={icon} onClick={copy}>
              {copied ? 'Copied' : label}
            </Button>
          )
        }
        return (
          <Tooltip label={copied ? 'Copied' : 'Copy'}>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={small ? 'sm' : 'md'}
              aria-label={copied ? 'Copied' : `Copy ${what}`}
              onClick={event => {
                event.stopPropagation()
                copy()
              }}
            >
              {icon}
            </ActionIcon>
          </Tooltip>
        )
      }}
    </Copier>
  )
}
