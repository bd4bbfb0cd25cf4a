import { Anchor, Text } from '@mantine/core'
import { MapPin } from 'lucide-react'
import type { InboundMessageView } from '../../../../sdk/index.ts'
import classes from './conversation.module.css'

/** A received location: the link opens a map on another site, only on request. */
export function LocationCard({ place }: { place: Location }) {
  const { latitude, longitude, name, address } = place
  return (
    <div className={classes.file}>
      <MapPin size={15} aria-label="Location" />
      <div style={{ minWidth: 0 }}>
        {name !== null && (
          <Text size="sm" fw={500}>
            <bdi>{name}</bdi>
          </Text>
        )}
        {address !== null && (
          <Text size="xs" c="dimmed">
            <bdi>{address}</bdi>
          </Text>
        )}
        <Anchor
          href={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`}
          target="_blank"
          rel="noreferrer"
          size="sm"
          className="ph-num"
          title="Show it on a map"
        >
          {coordinatesOf(place)}
        </Anchor>
      </div>
    </div>
  )
}

type Location = NonNullable<InboundMessageView['location']>

/** As maps accept them, to a millionth of a degree (11 cm). */
export function coordinatesOf({ latitude, longitude }: Location): string {
  return [latitude, longitude].map(each => Number(each.toFixed(6))).join(', ')
}
