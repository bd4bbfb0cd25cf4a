import { Button, Text } from '@mantine/core'
import { Download, Paperclip } from 'lucide-react'
import { useState } from 'react'
import type { InboundMediaView } from '../../../../sdk/index.ts'
import { useApi } from '../../api/context.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { humanize } from '../../parts/status-badge.tsx'
import { notifyFault } from '../../parts/toast.tsx'
import classes from './conversation.module.css'

/** A received file: it can be saved, but is never opened here. */
export function MediaFile({ file }: { file: InboundMediaView }) {
  const api = useApi()
  const [busy, setBusy] = useState(false)
  const { fileName, type, mimetype, sizeBytes, path } = file
  const name = fileName ?? humanize(type)

  async function save(): Promise<void> {
    const place = /\/inbound\/([^/]+)\/media\/(\d+)$/.exec(path ?? '')
    if (!place) return
    setBusy(true)
    try {
      const bytes = await api.get('/api/v2/inbound/{inboundId}/media/{index}', {
        path: { inboundId: place[1]!, index: place[2]! },
        parseAs: 'blob',
      })
      saveFile(bytes as unknown as Blob, name)
    } catch (error) {
      notifyFault(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className={classes.file}>
      <Paperclip size={15} aria-hidden />
      <div className={classes.fileName}>
        <Text size="sm" fw={500} truncate>
          <bdi>{name}</bdi>
        </Text>
        <Text size="xs" c="dimmed">
          {[mimetype, sizeBytes === null ? null : formatSize(sizeBytes)].filter(Boolean).join(', ')}
        </Text>
      </div>
      {path === null ? (
        <Text size="xs" c="dimmed">
          Not available
        </Text>
      ) : (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Download size={13} />}
          loading={busy}
          aria-label={`Save ${name}`}
          onClick={save}
        >
          Save
        </Button>
      )}
    </div>
  )
}

function formatSize(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
