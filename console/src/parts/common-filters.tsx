import { CHANNELS, channelName } from './channel-name.ts'
import { ChoiceFilter } from './filter-bar.tsx'
import { PERIODS } from './periods.ts'

type Props = { value: string | undefined; onChange: (value: string | null) => void; width?: number }

export function ChannelFilter(props: Props) {
  return (
    <ChoiceFilter
      label="Channel"
      options={CHANNELS.map(value => ({ value, label: channelName(value) }))}
      {...props}
    />
  )
}

/** The period; `periodStart` gives its start. */
export function PeriodFilter(props: Props) {
  return <ChoiceFilter label="Any time" options={PERIODS} width={150} {...props} />
}
